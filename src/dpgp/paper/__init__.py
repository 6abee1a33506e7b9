"""Honkela & Melkas (2021), "Gaussian Processes with Differential Privacy", as published."""

from dpgp.paper.inference import dp_gp_inference
from dpgp.paper.learning import LearnedModel, dp_gp_learn_hyperparameters
from dpgp.paper.posterior import SparsePosterior
from dpgp.paper.scoring import Candidate

__all__ = [
    "Candidate",
    "LearnedModel",
    "SparsePosterior",
    "dp_gp_inference",
    "dp_gp_learn_hyperparameters",
]
