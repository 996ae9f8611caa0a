"""Build of the extension, and checks before a release: sizes, and all supported Blenders."""
