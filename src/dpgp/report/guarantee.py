"""The guarantee of a fitted model in plain words."""

from __future__ import annotations

from dpgp.privacy.certificate import Certificate
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.rounding import factor_text, text_up


def guarantee_in_words(certificate: Certificate) -> str:
    """Say in plain words what (ε, δ)-differential privacy promises."""
    if not certificate.is_private:
        return "This model is a simulation and NOT private: its noise can be repeated or is absent."
    is_row = certificate.rows_per_unit == 1 and not certificate.per_person
    unit, other = ("row", "any other") if is_row else ("person's rows", "those of any other person")
    change = {
        Neighbours.REPLACE: f"Replace any one {unit} by {other}",
        Neighbours.ADD_REMOVE: f"Add or remove any one {unit}",
    }[certificate.neighbours]
    return (
        f"{change}: the probability of anything that could be concluded from this model, by "
        "anybody with whatever other knowledge, changes by a factor of at most "
        f"{factor_text(certificate.epsilon)}, plus {text_up(certificate.delta)}."
    )
