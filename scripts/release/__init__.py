"""Building the extension, and the checks before a release: sizes, and every supported Blender."""
