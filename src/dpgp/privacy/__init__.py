"""Sensitivity, calibration, noise, ledger, certificate: no word of Gaussian processes."""
