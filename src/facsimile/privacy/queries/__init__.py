"""Statistics of the confidential table, each with its sensitivity and proof."""
