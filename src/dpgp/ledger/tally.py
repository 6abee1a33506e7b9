"""What fits of this process have spent that no ledger knows of; it ends with the process."""

from __future__ import annotations

from threading import Lock

from dpgp.ledger.account import Cost
from dpgp.privacy.books import GaussianRelease, mu_of_guarantee
from dpgp.privacy.certificate import Certificate
from dpgp.privacy.rounding import text_up


class RepeatedFitsWarning(UserWarning):
    """Fits without a ledger add up, and nobody else adds them."""


class Tally:
    """The sum of what fits have spent; simulations spend nothing."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.forget()

    def forget(self) -> None:
        """Start anew, as for other people."""
        self.fits, self.cost = 0, Cost()

    def add(self, certificate: Certificate) -> None:
        """Count a fit, or what one that failed had spent."""
        if not certificate.is_private:
            return
        gaussian = (each for each in certificate.releases if isinstance(each, GaussianRelease))
        cost = Cost.of_fit(gaussian)
        with self._lock:
            self.fits, self.cost = self.fits + 1, self.cost + cost

    def with_another(self, epsilon: float, delta: float) -> str | None:
        """Say what one more fit of this price makes of the sum; nothing of the first.

        ε at δ of :math:`\\sqrt{\\sum\\mu^2}`, as in a ledger: docs/proofs/ledger.md.
        """
        if not self.fits:
            return None
        together = self.cost + Cost.gaussian(mu_of_guarantee(epsilon, delta), 0.0)
        return (
            f"This is fit number {self.fits + 1} of this process without a ledger, and every fit "
            f"spends. If they are about the same people, they cost ε = "
            f"{text_up(together.epsilon_at(delta), 3)} together, at δ = {text_up(delta)}. Give "
            "them one `ledger`, which adds up and refuses what is too much; or a `random_state`, "
            "to simulate on made-up rows."
        )


TALLY = Tally()
"""That of this process."""
