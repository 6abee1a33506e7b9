"""Kernels: one file for each, with all that dpgp knows of it.

The vocabulary is scikit-learn's. A *rule* (:class:`dpgp.kernels.base.KernelRule`) holds the facts
of one type of kernel: formula, bounds, prior, tree for files, words, JavaScript. Rules are looked
up by the exact type, so a subclass with a formula of its own is never taken for its parent; kernels
that no rule knows are called as they are (:mod:`dpgp.kernels.own`). To add a kernel, write one file
and name it in :mod:`dpgp.kernels.registry`.
"""
