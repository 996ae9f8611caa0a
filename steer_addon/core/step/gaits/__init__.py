"""What bodies show while agents move: characters, gaits, clips and stance. No step reads it."""
