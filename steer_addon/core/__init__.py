"""What moves agents: arrays in, arrays out, and nothing of Blender."""
