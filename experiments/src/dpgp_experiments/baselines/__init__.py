"""What users would pick instead of a private Gaussian process, one module each.

A method is a function ``fit_predict(problem, X_test, rng) -> Prediction``
(:mod:`dpgp_experiments.baselines.interface`).
"""
