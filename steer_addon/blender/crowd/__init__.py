"""What a crowd is in a .blend file: its object, properties, state object, inputs and links."""
