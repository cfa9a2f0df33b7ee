"""The commands for people with a stream, and what they print."""
