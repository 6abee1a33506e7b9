"""Inference for one or two inputs: a fixed dictionary, asked for as a whole at every stage."""
