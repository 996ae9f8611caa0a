"""What `steer simulate` is made of beside its command: where crowds come from, and what is kept."""
