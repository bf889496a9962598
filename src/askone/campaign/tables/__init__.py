"""Tables of rows: CSV, JSON lines, Parquet, images in a folder or a zip file; what models see of them."""
