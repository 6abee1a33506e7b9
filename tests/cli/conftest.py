"""What tests of commands share: calling them, and the shape of an error."""

import pytest
from typer.testing import CliRunner

from dpgp.cli import app


@pytest.fixture(scope="session")
def invoke():
    def invoke(*arguments, columns=120, env=None, **options):
        environment = {"COLUMNS": str(columns), **(env or {})}
        return CliRunner().invoke(app, [str(a) for a in arguments], env=environment, **options)

    return invoke


@pytest.fixture(scope="session")
def refused():
    """Check for one sentence, the exit code, and no more."""

    def refused(result, code, *parts):
        assert result.exit_code == code, result.output
        assert result.stderr.startswith("Error: ")
        assert result.stderr.count("\n") == 1
        assert "secret" not in result.output
        for part in parts:
            assert part in result.stderr

    return refused
