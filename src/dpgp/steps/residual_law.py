"""The law of the residuals: one signed histogram a target, between stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from dpgp.inference.noisy_law import believe
from dpgp.inference.residual_families import kind_probabilities, outcome_candidates
from dpgp.inference.residual_law import LAW_EDGES, law_share, measured_law
from dpgp.inference.stage import LARGEST_RESIDUAL
from dpgp.privacy.parts import RowPart
from dpgp.steps.base import HistogramQuery, Purpose, count_noise

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook, Purse
    from dpgp.steps.known import Known


@dataclass(frozen=True)
class ResidualHistograms:
    """Release how residuals of the first stages are spread, in their present sds."""

    share: float
    part: RowPart | None = None
    purpose: ClassVar[Purpose] = Purpose.LAW
    label: ClassVar[str] = "law of residuals"
    activity: ClassVar[str] = "looking how residuals are spread"
    effort: ClassVar[float] = 0.5  # of a stage's time: 30,000 rows of six inputs

    @classmethod
    def planned(cls, purse: Purse) -> tuple[ResidualHistograms, ...]:
        """Return the step where later stages clip by what it finds."""
        if not purse.clips_residuals or len(purse.options.stages) == 1:
            return ()
        return (cls(law_share(purse.signal)),)

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise of a bin."""
        return [count_noise(options, options.n_targets, mu)]

    def query(self, known: Known) -> HistogramQuery:
        """Ask for counts of (y − f₀(x))/τ between public edges."""
        residuals = known.fit.residuals(known.fit.centres, known.fit.residual_sds)
        targets, filler = known.options.n_targets, known.inputs.filler
        return HistogramQuery(residuals.of, targets, LAW_EDGES[1:-1], filler)

    def learn(self, known: Known, release: Any) -> None:
        """Take the law of every target, by which stages clip from now on, and what kind it is."""
        family = outcome_candidates(tuple(LAW_EDGES))
        n, n_std = known.rows_of(self.part)
        beliefs = [believe(row, release.noise_std, n, family, n_std) for row in release.counts]
        known.findings[self.label] = [kind_probabilities(belief) for belief in beliefs]
        pairs = zip(beliefs, known.fit.residual_sds, strict=True)
        laws = [measured_law(law, LARGEST_RESIDUAL / sd) for law, sd in pairs]
        known.fit.learn_laws(laws, known.signal / known.n)

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return the outlook as it is: forecasts take the noise to be Gaussian."""
        return outlook

    @classmethod
    def why(cls, planned: Sequence[ResidualHistograms]) -> str:
        """Say what the histograms cost, or why there are none."""
        if not planned:
            return "no law of residuals: nothing is clipped by it"
        share = planned[0].share
        return f"the law of residuals, by which later stages clip: {share:.1%} of the budget"
