"""Rosters and keys: what is wrong is said with its remedy, before anybody is called."""

import base64

import pytest
import yaml

from dpgp.sites import Site, SitesError, create_key, read_roster
from dpgp.sites.roster import load_key


def written(folder, **changes):
    content = yaml.safe_load((folder / "roster.yaml").read_text()) | changes
    path = folder / "changed.yaml"
    path.write_text(yaml.safe_dump({key: value for key, value in content.items() if value}))
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"address": "here"}, "host and a port"),
        ({"address": "here:99999"}, "host and a port"),
        ({"sites": ["north"]}, "every site its public key"),
        ({"sites": {"north": "abc", "south": "def"}, "honest": 1}, "copy it whole"),
        ({"coordinator": None}, "must be a public key"),
        ({"honest": "many"}, "whole number"),
        ({"honest": 4}, "between 1 and the number of sites, 3"),
        ({"secret": "x"}, "must have the keys"),
    ],
)
def test_a_roster_that_cannot_be_meant(parties, changes, message):
    with pytest.raises(SitesError, match=message):
        read_roster(written(parties, **changes))


def test_one_site_is_no_joint_fit(parties):
    sites = yaml.safe_load((parties / "roster.yaml").read_text())["sites"]
    with pytest.raises(SitesError, match="two sites or more"):
        read_roster(written(parties, sites={"north": sites["north"]}))


def test_two_parties_with_one_key(parties):
    sites = yaml.safe_load((parties / "roster.yaml").read_text())["sites"]
    with pytest.raises(SitesError, match="a key of its own"):
        read_roster(written(parties, sites=sites | {"south": sites["north"]}))


def test_a_key_with_which_everybody_has_the_same_secret(parties):
    """Zero is a point of small order: masks shared with its site would be known to all."""
    sites = yaml.safe_load((parties / "roster.yaml").read_text())["sites"]
    nobody = base64.b64encode(bytes(32)).decode()
    seat = Site("north", written(parties, sites=sites | {"west": nobody}), parties / "north.key")
    with pytest.raises(SitesError, match="copy it whole"), seat.meeting(None, 0, None):
        pass


def test_all_sites_are_trusted_unless_said(parties):
    assert read_roster(written(parties, honest=None)).honest == 2
    assert read_roster(written(parties, honest=3)).honest == 3
    assert read_roster(written(parties, honest=1)).honest == 1


def test_no_file_and_no_yaml(tmp_path):
    with pytest.raises(SitesError, match="no roster"):
        read_roster(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("a: [")
    with pytest.raises(SitesError, match="no YAML"):
        read_roster(tmp_path / "bad.yaml")


def test_a_key_is_for_its_owner_alone_and_is_never_replaced(tmp_path):
    path = tmp_path / "north.key"
    public = create_key(path)
    assert path.stat().st_mode & 0o077 == 0
    assert load_key(path).public == public
    assert public not in repr(load_key(path))
    with pytest.raises(FileExistsError):
        create_key(path)


@pytest.mark.parametrize("content", [b"", b"abc", b"\xff" * 20000])
def test_what_is_no_key(tmp_path, content):
    (tmp_path / "x.key").write_bytes(content)
    with pytest.raises(SitesError, match="no key that `dpgp sites key` wrote"):
        load_key(tmp_path / "x.key")


def test_a_folder_is_no_key(tmp_path):
    with pytest.raises(SitesError, match="to read; make one"):
        load_key(tmp_path)
