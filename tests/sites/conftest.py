import socket
import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent))
from processes import NAMES

from dpgp.sites import create_key


@pytest.fixture
def parties(tmp_path):
    """Keys of three sites and a coordinator, and their roster."""
    public = {name: create_key(tmp_path / f"{name}.key") for name in (*NAMES, "coordinator")}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    roster = {
        "address": f"127.0.0.1:{port}",
        "coordinator": public.pop("coordinator"),
        "sites": public,
        "honest": str(len(public)),
    }
    (tmp_path / "roster.yaml").write_text(yaml.safe_dump(roster))
    return tmp_path
