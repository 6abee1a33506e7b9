"""Names of columns and levels stand inside their figures, beside one another, and can be read."""

import warnings
from itertools import combinations

import matplotlib as mpl
import pytest
from level_names import LEVELS, SIXTY, fitted
from matplotlib import pyplot

from dpgp.report.names import in_lines

mpl.use("Agg")

LAYOUTS = {
    "one category": (0, 1),
    "two panels": (1, 1),
    "three panels": (1, 2),
    "two rows": (2, 2),
}
EVERYWHERE = ("real", "twelve, one of sixty")  # the other families in two of the layouts
CASES = [
    (name, layout)
    for name in LEVELS
    for layout in LAYOUTS
    if name in EVERYWHERE or layout in ("one category", "three panels")
]
SLACK = 0.01  # inches
SMALL, USUAL = 80, 110  # dots an inch: letters of small pictures are relatively wider


@pytest.fixture(autouse=True)
def no_open_figures():
    yield
    pyplot.close("all")


def drawn(model, **options):
    """Return the panels of a plot, drawn without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes = model.plot(**options)
        axes = axes if isinstance(axes, list) else [axes]
        for dots in (SMALL, USUAL):
            axes[0].figure.set_dpi(dots)
            axes[0].figure.draw_without_rendering()
            check_place(axes)
    return axes


def check_place(axes):
    """All texts are within the figure, and panels and levels beside one another."""
    figure = axes[0].figure
    tight = figure.get_tightbbox()
    assert min(tight.x0, tight.y0) > -SLACK
    assert tight.x1 < figure.get_figwidth() + SLACK
    assert tight.y1 < figure.get_figheight() + SLACK
    panels = [axis.get_tightbbox() for axis in axes]
    panels += [legend.get_window_extent() for legend in figure.legends]
    for one, other in combinations(panels, 2):
        assert overlap(one, other) < 3.0, (one, other)
    for axis in axes:
        assert axis.get_window_extent().height > 1.2 * figure.dpi
        boxes = [label.get_window_extent() for label in axis.get_xticklabels()]
        for one, other in combinations(boxes, 2):
            assert overlap(one, other) < 1.0, axis.get_xlabel()


def overlap(one, other):
    """Return how many dots the narrower side of what two boxes share has."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return max(min(width, height), 0.0)


def levels_of(axes, count):
    (found,) = {
        tuple(label.get_text() for label in axis.get_xticklabels())
        for axis in axes
        if axis.get_xlabel().startswith("what people said")
    }
    assert len(set(found)) == count
    return found


@pytest.mark.parametrize(("name", "layout"), CASES)
def test_levels_have_room_whatever_they_are_called(name, layout):
    model = fitted(name, *LAYOUTS[layout])
    for options in ({}, {"centiles": True}):
        found = levels_of(drawn(model, **options), len(LEVELS[name]))
        if name in ("real", "short"):
            assert [" ".join(text.split()).replace("- ", "-") for text in found] == LEVELS[name]


def test_a_long_level_makes_its_figure_higher_and_short_ones_do_not():
    heights = {
        name: drawn(fitted(name, 1, 1))[0].figure.get_figheight() for name in ("short", "twelve")
    }
    assert heights["short"] == pytest.approx(3.6)
    assert heights["twelve"] > 5.0


@pytest.mark.parametrize("layout", LAYOUTS)
def test_of_yes_and_no_the_axis_is_a_probability(layout):
    axes = drawn(fitted("real", *LAYOUTS[layout], yes_no=True))
    assert axes[0].get_ylabel() == "P(hypertension = yes)"


def test_a_map_of_yes_and_no_is_one_of_a_probability():
    (axis,) = drawn(fitted("real", 2, 0, yes_no=True))
    assert axis.get_title(loc="left").startswith("P(hypertension = yes) (pale: its sd is above 0.1")


def test_names_are_wrapped_and_cut_in_their_middle():
    assert in_lines("age", 20) == "age"
    assert in_lines("High school graduate", 12) == "High school\ngraduate"
    assert in_lines(SIXTY, 11, 1) == "Some …rades"
    assert in_lines(SIXTY, 20, 2) == "Some college, an\nassociate… of trades"
    assert in_lines("abc def", 3, 1, cut=1.0) == "…ef"
    assert in_lines("", 5) == ""
