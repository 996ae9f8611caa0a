"""What commands do with Blender, one module of the command's name each; see `commands.door`."""
