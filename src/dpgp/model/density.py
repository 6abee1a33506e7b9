"""A private density of the inputs."""

from __future__ import annotations

from dataclasses import dataclass

from dpgp.types import Array


@dataclass(frozen=True)
class InputDensity:
    """About how many rows lie near each point of the box."""

    points: Array
    weights: Array
