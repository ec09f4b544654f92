"""Analysis: answers for data users, each with how far it can be from the original; from public things alone."""
