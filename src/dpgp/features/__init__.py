"""Kernels, inducing points and feature maps: public functions of public parameters."""
