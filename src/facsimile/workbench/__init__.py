"""The workbench: a page on this machine where a specification is read, changed, tried and signed."""
