"""Makers of docs/: tables of controls, pictures of panels, animations of presets."""
