"""Runs of several crowds, frame by frame, wherever their worlds come from."""
