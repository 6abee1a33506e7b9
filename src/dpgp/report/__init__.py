"""Figures and reports, from released values and simulated data only."""
