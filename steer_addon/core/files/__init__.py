"""Files: read only as plain files, written whole or not at all, never those of another program."""
