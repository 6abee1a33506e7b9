"""Fitted models: released values and public choices, what they predict, and how they are kept."""
