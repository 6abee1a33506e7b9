import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from model_kinds import fitted


@pytest.fixture(scope="session")
def document_of(tmp_path_factory):
    """Return the model file of a kind of fit, as values."""
    folder = tmp_path_factory.mktemp("kinds")

    def document(name):
        path = folder / f"{name}.json"
        if not path.exists():
            fitted(name).save(path)
        return json.loads(path.read_text(encoding="utf-8"))

    return document
