"""Models that add up: one posterior from the records of several releases."""
