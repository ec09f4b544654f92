"""Everything that sees a record or spends budget. Start with README.md in this folder."""
