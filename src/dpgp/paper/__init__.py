"""Honkela & Melkas (2021), "Gaussian Processes with Differential Privacy", as published."""

from dpgp.paper.inference import dp_gp_inference
from dpgp.paper.posterior import SparsePosterior

__all__ = ["SparsePosterior", "dp_gp_inference"]
