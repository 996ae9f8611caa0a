"""Test in a real window: the program that starts it; the steps are in tests/gui."""
