"""The difference between releases along an input: where it is, in the file and on the page."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpgp import PrivateGPRegressor, load, pool
from dpgp.checked_values import ModelFileError
from dpgp.json_document import digest
from dpgp.report.html.agreement import agreement

pytestmark = pytest.mark.filterwarnings("ignore")


def survey(seed, shift=0.0, n=1500):
    """Return a model of boys and girls by age; boys are taller by a shift from 12 on."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"age": rng.uniform(2, 18, n)})
    table["sex"] = rng.choice(["girl", "boy"], n)
    older = (table["age"] > 12) & (table["sex"] == "boy")
    y = 80 + 5 * table["age"] + shift * older + 3 * rng.standard_normal(n)
    gp = PrivateGPRegressor(
        3.0,
        1e-6,
        bounds={"age": (2, 18)},
        categories={"sex": ["girl", "boy"]},
        target_bounds={"height": (60, 200)},
        random_state=seed,
    )
    return gp.fit(table, pd.DataFrame({"height": y})).model_


@pytest.fixture(scope="module")
def apart():
    names = ["north", "south <b>"]
    return pool([survey(0), survey(1, 15.0)], different_curves=True, names=names)


def test_the_line_goes_where_the_difference_is(apart):
    (line,) = apart.findings["pooled"]["along"]
    ((release, _, _, _, difference, _),) = apart.findings["pooled"]["differences"]
    assert (line["release"], line["target"]) == (release, "height")
    assert line["input"] in ("age", "sex")
    at, along, sd = (np.array(line[name]) for name in ("at", "difference", "sd"))
    assert np.abs(along).max() >= 0.9 * abs(difference)
    if line["input"] == "age":  # among boys, none at 4 and 15 cm at 16
        told = np.sign(difference) * np.interp([4.0, 16.0], at, along)
        assert abs(told[0]) < 6.0
        assert told[1] == pytest.approx(15.0, abs=6.0)
    assert (sd > 0).all()


def test_the_page_draws_it_and_repeats_names_as_text(apart, tmp_path):
    page = str(agreement(apart))
    assert page.count("<svg") == 1
    assert "<b>" not in page
    assert "difference in height" in page
    numbers = [float(x) for x in re.findall(r"[ML]([\d.]+) ", page)]
    assert numbers
    assert 0 <= min(numbers) <= max(numbers) <= 400
    apart.report(tmp_path / "page.html")
    assert page in (tmp_path / "page.html").read_text()


def test_levels_are_dots(apart):
    found = apart.findings["pooled"]
    of_sex = {**found["along"][0], "input": "sex", "at": [0, 1], "difference": [0, 9], "sd": [1, 1]}
    told = {"pooled": {**found, "along": [of_sex]}}
    page = str(agreement(replace(apart, findings=told)))
    assert page.count("<circle") == 2
    assert ">girl</text>" in page


def test_files_without_lines_are_read_and_wrong_ones_are_not(apart, tmp_path):
    path = tmp_path / "both.json"
    apart.save(path)
    document = json.loads(path.read_text())
    del document["digest"]
    assert load(path).findings["pooled"]["along"] == apart.findings["pooled"]["along"]
    line = document["findings"]["pooled"].pop("along")[0]
    path.write_text(json.dumps({**document, "digest": digest(document)}))
    assert "<svg" not in agreement(load(path))
    stranger = {**apart.findings["pooled"], "along": [{**line, "input": "weight"}]}
    with_stranger = replace(apart, findings={"pooled": stranger})
    assert "<svg" not in agreement(with_stranger)
    for wrong in ({"sd": [1.0]}, {"at": [1.0] * len(line["at"])}, {"input": 3}):
        document["findings"]["pooled"]["along"] = [{**line, **wrong}]
        path.write_text(json.dumps({**document, "digest": digest(document)}))
        with pytest.raises(ModelFileError):
            load(path)
