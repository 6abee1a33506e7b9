"""What a fitted estimator and a fitted model are turned into alike: a file, a page, a figure."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class OutputMethods:
    """Files of a fitted model."""

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted model to a JSON file that :func:`dpgp.load` reads. docs/model-file.md"""
        from dpgp.model.file import save
        from dpgp.model.fitted import fitted_model

        save(fitted_model(self), path, overwrite)

    def report(self, path: str | os.PathLike[str], title: str | None = None) -> None:
        """Write a page about the fitted model that any browser shows offline. docs/report.md"""
        from dpgp.model.fitted import fitted_model
        from dpgp.report.html import report_html

        Path(path).write_text(report_html(fitted_model(self), title), encoding="utf-8")


class PlotMethods:
    """Figures of a fitted model."""

    def plot(
        self,
        ax: Axes | Sequence[Axes] | None = None,
        *,
        target: int | None = None,
        centiles: bool = False,
    ) -> Axes | list[Axes]:
        """Draw the mean, how well it is known, where observations fall, and where the rows are.

        One input: a curve. Two: a map, pale where little is known. Three: one panel an input, the
        others held at their private medians. More: averages over the private model of the inputs,
        along the six most important ones. Returns the axes; with three inputs or more, a list of
        one for each panel, and then ``ax`` is such a list too. ``target`` chooses among several
        targets. ``centiles=True`` draws centiles of new observations instead, along one
        input or, with more, along each of the six most important ones, the others held.
        """
        from dpgp.model.fitted import fitted_model
        from dpgp.report.centile_plot import draw_centiles
        from dpgp.report.model_plot import draw_model

        return (draw_centiles if centiles else draw_model)(fitted_model(self), ax, target)
