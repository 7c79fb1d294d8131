"""Export a vault's sessions as Parquet files for analysis, a lake, and query such a lake."""
