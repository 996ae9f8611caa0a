"""What docs/ is made with: tables of controls, pictures of panels, animations of presets."""
