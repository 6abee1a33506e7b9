"""Inference for three inputs and more: stages in a metric that is learned between them."""
