"""Inference for tables of four inputs and more: stages in a metric that is learned between them."""
