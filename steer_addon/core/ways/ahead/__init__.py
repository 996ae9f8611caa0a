"""What takes long on large surfaces: found before the step that needs it, with its progress."""
