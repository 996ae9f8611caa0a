"""The test in a real window: the program that starts it; what it does there is in tests/gui."""
