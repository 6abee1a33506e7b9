"""The guarantee of a fitted model in plain words."""

from __future__ import annotations

import math

from dpgp.privacy.certificate import Certificate
from dpgp.privacy.neighbours import Neighbours


def guarantee_in_words(certificate: Certificate) -> str:
    """Say in plain words what (ε, δ)-differential privacy promises."""
    if not certificate.is_private:
        return "This model is a simulation and NOT private: its noise can be repeated or is absent."
    most = certificate.rows_per_unit
    unit = "any one row" if most == 1 else f"all rows of any one person, up to {most},"
    change = {
        Neighbours.REPLACE: f"Replace {unit} by any other",
        Neighbours.ADD_REMOVE: f"Add or remove {unit.rstrip(',')}",
    }[certificate.neighbours]
    return (
        f"{change}: the probability of anything that could be concluded from this model, by "
        "anybody with whatever other knowledge, changes by a factor of at most "
        f"{math.exp(certificate.epsilon):.3g}, plus {certificate.delta:g}."
    )
