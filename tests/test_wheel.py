"""What is shipped: the library and its command line, and nothing of the laboratory."""

import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

import dpgp

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    (path,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("wheel")))
    with zipfile.ZipFile(path) as file:
        (metadata,) = (name for name in file.namelist() if name.endswith("METADATA"))
        return file.namelist(), file.read(metadata).decode()


def test_the_wheel_holds_the_library_alone(wheel):
    names, _ = wheel
    folders = {name.split("/")[0] for name in names}
    assert {folder for folder in folders if not folder.endswith(".dist-info")} == {"dpgp"}
    assert not [name for name in names if "experiment" in name or "baseline" in name]
    assert {
        "dpgp/py.typed",
        "dpgp/report/html/template.html",
        "dpgp/studio/assets/studio.js",
    } <= set(names)


def test_the_version_is_said_once_and_cited(wheel):
    _, metadata = wheel
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]
    assert f"\nVersion: {dpgp.__version__}\n" in metadata
    assert cited == dpgp.__version__


def test_the_source_distribution_builds_the_same_wheel(wheel, tmp_path):
    (path,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path))
    with tarfile.open(path) as file:
        # from Python 3.11.4 on
        file.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (folder,) = (entry for entry in tmp_path.iterdir() if entry.is_dir())
    assert {"README.md", "LICENSE", "CITATION.cff", "SECURITY.md"} <= {
        entry.name for entry in folder.iterdir()
    }
    (rebuilt,) = WheelBuilder(str(folder)).build(directory=str(tmp_path))
    with zipfile.ZipFile(rebuilt) as file:
        assert sorted(file.namelist()) == sorted(wheel[0])


def test_the_package_says_what_it_is(wheel):
    _, metadata = wheel
    for line in (
        "Author: The dpgp maintainers",
        "License-File: LICENSE",
        "Classifier: Typing :: Typed",
    ):
        assert line in metadata


def test_the_package_asks_for_nothing_of_the_laboratory(wheel):
    _, metadata = wheel
    assert "Requires-Dist: numpy" in metadata
    assert "torch" not in metadata
    assert "interpret" not in metadata


def test_the_laboratory_adds_its_command_and_asks_for_its_own():
    project = tomllib.loads((ROOT / "experiments/pyproject.toml").read_text())["project"]
    assert project["entry-points"]["dpgp.commands"] == {
        "reproduce": "dpgp_experiments.reproduce:reproduce"
    }
    assert "dpgp" in project["dependencies"]
    assert any(name.startswith("torch") for name in project["optional-dependencies"]["baselines"])
