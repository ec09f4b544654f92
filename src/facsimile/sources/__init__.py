"""Where records come from: files and engines, opened for the one query. Only error codes come out."""
