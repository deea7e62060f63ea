"""Moving notes in and out: JSON lines, and copies from store to store."""
