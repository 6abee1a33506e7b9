"""Signatures of model files: Ed25519 over the bytes of a file, kept in a file beside it."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

from dpgp.checked_values import ModelFileError
from dpgp.package import install

ALGORITHM = "Ed25519"
LARGEST_SIGNATURE = 10_000  # bytes of a signature or a key file, which may come from a stranger
NEEDED = f"signatures need the package cryptography: {install('sign')}."


def signature_path(model: str | os.PathLike[str]) -> Path:
    """Return where the signature of a model is kept: ``model.json.sig``."""
    return Path(f"{os.fspath(model)}.sig")


def create_key(name: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write a new key: ``name.key`` to keep secret, and ``name.pub`` to publish."""
    keys, forms = _cryptography()
    private = keys.Ed25519PrivateKey.generate()
    secret = private.private_bytes(
        forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption()
    )
    public = private.public_key().public_bytes(
        forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo
    )
    paths = Path(f"{os.fspath(name)}.key"), Path(f"{os.fspath(name)}.pub")
    for path, content, mode in zip(paths, (secret, public), (0o600, 0o644), strict=True):
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
    return paths


def sign(model: str | os.PathLike[str], key: str | os.PathLike[str]) -> Path:
    """Sign the bytes of a model with a private key; return where the signature is."""
    keys, forms = _cryptography()
    private = _loaded(forms.load_pem_private_key, key, keys.Ed25519PrivateKey, None)
    signed = base64.b64encode(private.sign(Path(model).read_bytes())).decode()
    path = signature_path(model)
    content = {"algorithm": ALGORITHM, "signature": signed}
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return path


def is_signed_by(model: str | os.PathLike[str], key: str | os.PathLike[str]) -> bool:
    """Return whether the signature beside a model was made by the owner of a public key."""
    keys, forms = _cryptography()
    from cryptography.exceptions import InvalidSignature

    public = _loaded(forms.load_pem_public_key, key, keys.Ed25519PublicKey)
    try:
        public.verify(_signature(signature_path(model)), Path(model).read_bytes())
    except InvalidSignature:
        return False
    return True


def _signature(path: Path) -> bytes:
    try:
        content = json.loads(_short(path))
        if content["algorithm"] != ALGORITHM:
            raise ValueError
        return base64.b64decode(content["signature"], validate=True)
    except FileNotFoundError:
        raise ModelFileError(f"there is no signature '{path}'; ask its publisher for it.") from None
    except (ValueError, LookupError, TypeError, RecursionError):
        raise ModelFileError(f"'{path}' is no signature that `dpgp sign` wrote.") from None


def _loaded(load: Any, path: str | os.PathLike[str], kind: type, *arguments: Any) -> Any:
    """Return the key of a PEM file; a ModelFileError where it is of another kind."""
    try:
        key = load(_short(Path(path)), *arguments)
    except FileNotFoundError:
        raise ModelFileError(f"there is no key '{path}'; name one, or make it first.") from None
    except (ValueError, TypeError):
        key = None
    except Exception as error:  # cryptography has errors of its own for keys it does not know
        if type(error).__module__.partition(".")[0] != "cryptography":
            raise
        key = None
    if not isinstance(key, kind):
        wanted = "a private" if arguments else "a public"
        raise ModelFileError(f"'{path}' is not {wanted} Ed25519 key in a PEM file.")
    return key


def _short(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(LARGEST_SIGNATURE + 1)
    if len(content) > LARGEST_SIGNATURE:
        raise ValueError
    return content


def _cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise ModelFileError(NEEDED) from None
    return ed25519, serialization
