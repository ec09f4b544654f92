"""What each command does, for Python: one function for each, whose result knows its page and its JSON.

The command line calls the same functions, so what holds a release from a terminal holds one from a notebook.
Nothing heavy is imported before it is called for.
"""
