import json
import os
import stat

import numpy as np
import pytest

import dpgp
from dpgp.model.file import ModelFileError

pytest.importorskip("cryptography")  # in the extra `test`

from dpgp.verify.signature import create_key, is_signed_by, sign, signature_path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    X = np.linspace(0.0, 1.0, 60)[:, None]
    path = tmp_path_factory.mktemp("signature") / "model.json"
    options = {"bounds": (0, 1), "target_bounds": (0, 1), "features": "linear", "stages": 1}
    dpgp.PrivateGPRegressor(**options).fit(X, X[:, 0]).save(path)
    return path


@pytest.fixture
def curator(tmp_path):
    return create_key(tmp_path / "curator")


def test_a_signature_is_of_one_key_and_of_every_byte(model, curator, tmp_path):
    secret, public = curator
    assert sign(model, secret) == signature_path(model)
    assert is_signed_by(model, public)
    _, other = create_key(tmp_path / "other")
    assert not is_signed_by(model, other)
    copied = tmp_path / "copied.json"
    copied.write_bytes(model.read_bytes() + b" ")
    signature_path(copied).write_bytes(signature_path(model).read_bytes())
    assert not is_signed_by(copied, public)


def test_the_secret_key_is_for_its_owner_and_never_replaced(curator, tmp_path):
    assert stat.S_IMODE(os.stat(curator[0]).st_mode) == 0o600
    with pytest.raises(FileExistsError):
        create_key(tmp_path / "curator")


def test_what_is_no_key_and_no_signature_is_refused(model, curator, tmp_path):
    secret, public = curator
    empty = tmp_path / "empty"
    for content in (
        b"",
        b"x" * 20_000,
        b"-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----",
    ):
        empty.write_bytes(content)
        for call in (sign, is_signed_by):
            with pytest.raises(ModelFileError, match="Ed25519 key"):
                call(model, empty)
    with pytest.raises(ModelFileError, match="private Ed25519 key"):
        sign(model, public)
    with pytest.raises(ModelFileError, match="there is no key"):
        sign(model, tmp_path / "none.key")
    sign(model, secret)
    for content in (
        "",
        "[]",
        "{}",
        json.dumps({"algorithm": "none", "signature": ""}),
        "x" * 20_000,
    ):
        signature_path(model).write_text(content)
        with pytest.raises(ModelFileError, match="is no signature"):
            is_signed_by(model, public)
    signature_path(model).unlink()
    with pytest.raises(ModelFileError, match="there is no signature"):
        is_signed_by(model, public)


def test_commands_sign_and_verify(model, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from dpgp.cli import app

    monkeypatch.chdir(tmp_path)

    def invoke(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    assert invoke("sign", "--create-key", "me").exit_code == 0
    assert invoke("sign", "--create-key", "me").exit_code == 2
    assert invoke("sign", model, "--key", "me.key").exit_code == 0
    verified = invoke("verify", model, "--key", "me.pub")
    assert verified.exit_code == 0
    assert "What you take from its signer" in verified.output
    invoke("sign", "--create-key", "other")
    assert invoke("verify", model, "--key", "other.pub").exit_code == 1
    assert invoke("verify", model, "--key", "me.key").exit_code == 4
    assert invoke("sign", model).exit_code == 2
    assert invoke("sign").exit_code == 2
