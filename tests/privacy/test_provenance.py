"""A release names the study file that it was made by, by the bytes that were read."""

from hashlib import sha256

from dpgp.privacy.certificate import Provenance, StudyRecord
from dpgp.privacy.noise import noise_source


def test_a_study_is_known_by_the_hash_of_its_bytes():
    record = StudyRecord.of(b"epsilon: 1\n", "Growth", "G-1")
    assert record.sha256 == sha256(b"epsilon: 1\n").hexdigest()
    assert str(record) == f"Growth, G-1, study file with SHA-256 {record.sha256}"


def test_a_release_without_a_study_names_none():
    assert Provenance.of(noise_source(0)).study is None
