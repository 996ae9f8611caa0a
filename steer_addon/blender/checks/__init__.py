"""What is wrong with a scene, and the way out."""
