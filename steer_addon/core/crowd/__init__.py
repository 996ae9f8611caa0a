"""Settings of a crowd, and presets: files of settings."""
