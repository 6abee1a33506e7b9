"""Strings by the substrings that they share."""

from __future__ import annotations

from collections import Counter

from dpgp.kernels.counts import CountKernel, Counts, check_whole


class SpectrumKernel(CountKernel):
    r"""Strings by the substrings of one length that they share.

    .. math:: k(x, x') = \sum_{s \in \Sigma^\ell} c_s(x)\,c_s(x')

    where :math:`c_s(x)` counts the places at which x reads s, overlaps included. Strings shorter
    than :math:`\ell` have variance 0. Reference: Leslie, Eskin & Noble (2002), "The spectrum
    kernel: a string kernel for SVM protein classification".
    """

    def __init__(self, length: int = 3) -> None:
        self.length = length

    def counts(self, x: str) -> Counts:
        """Return how often each substring of the kernel's length occurs in ``x``."""
        check_whole("length", self.length, least=1)
        if not isinstance(x, str):
            raise TypeError(f"SpectrumKernel takes strings, got {type(x).__name__}.")
        return Counter(x[i : i + self.length] for i in range(len(x) - self.length + 1))
