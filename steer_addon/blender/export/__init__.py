"""Writers: frames of a crowd as files of other programs. They know nothing of caches or scenes."""
