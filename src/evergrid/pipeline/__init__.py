"""Spark: source topics in, changelogs out. The only room that imports pyspark."""
