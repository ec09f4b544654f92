"""What people agree on: differences in words, one layout, items to speak of, and the log of decisions."""
