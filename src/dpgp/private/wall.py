"""The wall: the one place in which sums over rows meet noise.

On one side raw rows, on the other releases that may be published. A query is evaluated exactly in
integers (:mod:`dpgp.private.sums`), and what leaves goes through
:func:`dpgp.privacy.mechanism.publish`, which books it before any noise is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpgp.features.base import FeatureMap
from dpgp.options import Options
from dpgp.privacy.books import Bookkeeper, Books, Bound
from dpgp.privacy.calibration import gaussian_sigma
from dpgp.privacy.exact_sums import UNIT, round_targets, shrinkage
from dpgp.privacy.mechanism import (
    GramNoise,
    GramRelease,
    HistogramRelease,
    noise_of_counts,
    publish,
    publish_gram,
)
from dpgp.privacy.noise import NoiseSource
from dpgp.privacy.parts import Dealing, DealtPart, RowPart
from dpgp.privacy.sensitivity import bounded_sum_sensitivity, histogram_sensitivity
from dpgp.private.source import PartOfRows, Source
from dpgp.private.sums import exact_count, exact_gram, exact_histograms
from dpgp.steps.base import CountQuery, GramQuery, HistogramQuery, Query, noise_of_gram
from dpgp.types import Array, Integers

Release = Array | HistogramRelease | GramRelease


@dataclass(frozen=True)
class _Asked:
    """Whose rows a release is about, and where and by which name it is booked."""

    rows: Source
    books: Bookkeeper
    label: str


@dataclass(frozen=True)
class Wall:
    """What every release of one fit shares: the rows, the books, the noise."""

    rows: Source
    options: Options
    books: Books
    source: NoiseSource
    threads: int = 1
    dealing: Dealing | None = None

    def __repr__(self) -> str:
        return "Wall(...)"

    def release(
        self, query: Query, share: float, label: str, part: RowPart | None = None
    ) -> Release:
        """Answer a query about all rows, or a part, with noise worth a share of the budget."""
        mu = self.books.share(share)
        asked = _Asked(self._rows_of(part), self.books.about(part), label)
        match query:
            case CountQuery():
                return self._counts(query, mu, asked)
            case HistogramQuery():
                return self._histograms(query, mu, asked)
            case GramQuery():
                return self._gram(query, mu, asked)

    def _rows_of(self, part: RowPart | None) -> Source:
        if part is None:
            return self.rows
        if self.dealing is None or self.options.per_person:
            # rows of one person would be in several parts: docs/proofs/parallel_parts.md
            raise ValueError("no parts were dealt; ask all rows.")
        return PartOfRows(self.rows, DealtPart(part, self.dealing))

    def _counts(self, query: CountQuery, mu: float, asked: _Asked) -> Array:
        """Release the number of usable rows, and what else is counted; a row is in each."""
        totals = exact_count(asked.rows, query, n_jobs=self.threads)
        noise = noise_of_counts(mu, query.numbers - 1, self.options.max_rows_per_unit)
        stds, spent = np.array(noise.stds), (noise.sensitivity, noise.sigma)
        return publish(
            totals, stds, *spent, asked.label, asked.books, self.source, bound=noise.bound
        )

    def _histograms(self, query: HistogramQuery, mu: float, asked: _Asked) -> HistogramRelease:
        """Release histograms, of which a row is in one bin each."""
        counts = exact_histograms(asked.rows, query, n_jobs=self.threads)
        sensitivity = histogram_sensitivity(
            query.histograms, self.options.neighbours, self.options.max_rows_per_unit
        )
        sigma, bound = gaussian_sigma(sensitivity, mu), Bound("histograms", float(query.histograms))
        totals, spent = counts.ravel(), (sensitivity, sigma)
        stds = np.full(len(totals), sigma)
        noisy = publish(totals, stds, *spent, asked.label, asked.books, self.source, bound=bound)
        return HistogramRelease(noisy.reshape(counts.shape), sigma)

    def _gram(self, query: GramQuery, mu: float, asked: _Asked) -> GramRelease:
        """Release the Gram matrix of features and clipped residuals."""
        if query.joint != self.options.outcome.is_joint:
            raise ValueError("a row's targets are bounded together, or one by one.")
        features, leading, joint = query.features, query.leading, query.joint
        totals = exact_gram(
            asked.rows,
            features,
            query.residuals,
            joint=joint,
            n_jobs=self.threads,
            leading=leading,
        )
        release = release_exact_gram(
            totals,
            features.dimension,
            noise_of_gram(self.options, mu),
            label=asked.label,
            books=asked.books,
            source=self.source,
            leading=leading,
            joint=joint,
        )
        return release.adding_up() if joint else release


def release_gram(
    rows: Source,
    features: FeatureMap,
    noise: GramNoise,
    *,
    label: str,
    books: Bookkeeper,
    source: NoiseSource,
    n_jobs: int | None = None,
) -> GramRelease:
    """Release the Gram matrix of features and targets with the given noise."""
    totals = exact_gram(rows, features, n_jobs=n_jobs)
    return release_exact_gram(
        totals, features.dimension, noise, label=label, books=books, source=source
    )


def release_exact_gram(
    totals: Integers,
    n_features: int,
    noise: GramNoise,
    *,
    label: str,
    books: Bookkeeper,
    source: NoiseSource,
    leading: int | None = None,
    joint: bool = False,
) -> GramRelease:
    """Release an exact Gram matrix whose first ``n_features`` columns are features.

    Products of features are those of the ``leading`` ones, where it is said.
    """
    n_targets = len(totals) - n_features
    stds = noise.matrix(n_features, n_targets, leading)
    gram = publish_gram(totals, stds, noise, label, books, source)
    shrunk = shrinkage(n_features), shrinkage(n_targets) if joint else 1.0
    return _in_real_units(gram, noise, n_features, leading, *shrunk)


def release_sum(
    values: Array, mu: float, *, label: str, books: Bookkeeper, source: NoiseSource
) -> float:
    """Release the sum of values in [−1, 1] with Gaussian noise worth ``mu``."""
    integers = np.array(values, dtype=np.float64)
    round_targets(integers)
    total = int(integers.astype(np.int64).sum()) * int(UNIT)
    sensitivity = bounded_sum_sensitivity(1.0, books.neighbours)
    sigma = gaussian_sigma(sensitivity, mu)
    totals, stds = np.array([total], dtype=object), np.array([sigma])
    bound = Bound("sum", 1.0)
    return float(publish(totals, stds, sensitivity, sigma, label, books, source, bound=bound)[0])


def _in_real_units(
    gram: Array, noise: GramNoise, d: int, leading: int | None, shrunk: float, of_targets: float
) -> GramRelease:
    """Divide out the public factors that features, and targets that are joint, carry."""
    target_std, both = noise.target_std, shrunk * of_targets
    return GramRelease(
        feature_gram=gram[:d, :d][:leading, :leading] / shrunk**2,
        cross=gram[:d, d:] / both,
        target_gram=None if target_std is None else gram[d:, d:] / of_targets**2,
        feature_std=noise.feature_std / shrunk**2,
        cross_std=noise.cross_std / both,
        target_std=None if target_std is None else target_std / of_targets**2,
    )
