"""A first specification from a public file: what is seen, what is guessed, and the text that says so."""
