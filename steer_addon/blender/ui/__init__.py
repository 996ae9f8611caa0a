"""Panels, menus and what is drawn in them."""
