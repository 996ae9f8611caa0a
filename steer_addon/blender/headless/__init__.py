"""Work without a window: batches and rendering."""
