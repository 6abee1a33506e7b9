"""Kernels: frozen data classes with declared fields and one formula.

The vocabulary is scikit-learn's, whose kernels become ours at the door (:mod:`dpgp.kernels.known`);
those that are not known are called as they are. From the fields follow θ, priors, words, text and
files (:mod:`dpgp.kernels.base`), from the formula covariances for many θ, GPflow, GPyTorch, and by
its trace ONNX and the page's JavaScript. To add a kernel, write a class in
:mod:`dpgp.kernels.stationary`, ``linear`` or ``combined``, and name it in ``known``.
"""
