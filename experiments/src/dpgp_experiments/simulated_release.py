"""One simulated release of Algorithm 1, and as many posteriors from it as are to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpgp.paper.inference import read_rows
from dpgp.privacy.books import Books
from dpgp.privacy.certificate import Certificate
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import NoiseSource, SimulatedNoise
from dpgp.private.wall import release_gram

if TYPE_CHECKING:
    from dpgp.paper import SparsePosterior
    from dpgp.paper.model import PaperModel
    from dpgp_experiments.simulated import Sample


class NoNoise(SimulatedNoise):
    """Draws zeros: shows what Algorithm 1 does to data apart from the noise itself."""

    def __init__(self) -> None:
        super().__init__(0)

    def draw(self, scale: float, count: int) -> list[int]:
        """Return ``count`` zeros, whatever the scale."""
        return [0] * count


def posteriors_of_one_release(
    models: Sequence[PaperModel], data: Sample, epsilon: float, delta: float, source: NoiseSource
) -> list[SparsePosterior]:
    """Release A and B once, as the first model asks, and compute every model's posterior from it.

    The models may differ in what follows the release only.
    """
    model, books = models[0], Books(epsilon, delta, Neighbours.REPLACE)
    release = release_gram(
        read_rows(data.X, data.y, model, centre=0.0, box=None, missing="error"),
        model.features(),
        model.noise(books.share(1.0), books.neighbours),
        label="kernel moments A and B",
        books=books,
        source=source,
        n_jobs=1,
    )
    certificate = Certificate.from_books(books, source)
    return [model.posterior(model.update(release), certificate) for model in models]
