"""The algebra: Domain, Table (distinct rows and counts) and Encoding (raw values to codes)."""
