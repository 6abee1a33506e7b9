"""Pooled models: records that come back, one function from several, and what keeps them apart."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process.kernels import Matern

import dpgp
from dpgp import PrivateGPRegressor, load, pool
from dpgp.checked_values import ModelFileError
from dpgp.inference.guard import BiasPrior
from dpgp.inference.recorded import PlaceBelief
from dpgp.json_document import LARGEST_FILE, digest
from dpgp.packed import SINGLE, pack, pack_bytes, pack_document, unpack_documents
from dpgp.pooling import PoolingError
from dpgp.pooling.agreement import softened
from dpgp.pooling.reading import ReadRecords, Release, _without_bias
from dpgp.privacy.certificate import Certificate
from dpgp.privacy.neighbours import Neighbours
from dpgp.verify import verify

pytestmark = pytest.mark.filterwarnings("ignore")


def curve(x):
    return np.sin(3.0 * x)


def fitted(n, seed, shift=0.0, bounds=(-1, 1), epsilon=2.0, **options):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 1))
    y = np.clip(curve(X[:, 0]) + shift + 0.2 * rng.standard_normal(n), -2, 2)
    gp = PrivateGPRegressor(
        epsilon, 1e-5, bounds=bounds, target_bounds=(-2, 2), random_state=seed, **options
    )
    return gp.fit(X, y).model_


def mixed(n, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    table["site"] = rng.choice(["north", "south", "west"], n)
    f = table["a"] + np.sin(table["b"]) + 0.5 * (table["site"] == "south")
    y = np.clip(f + shift + 0.3 * rng.standard_normal(n), -6, 6)
    gp = PrivateGPRegressor(
        3.0,
        1e-5,
        bounds=dict.fromkeys("abc", (-4, 4)),
        categories={"site": ["north", "south", "west"]},
        target_bounds=(-6, 6),
        random_state=seed,
    )
    return gp.fit(table, y).model_


@pytest.fixture(scope="module")
def few():
    return [fitted(600, seed) for seed in range(3)]


@pytest.fixture(scope="module")
def many():
    return [mixed(1000, seed) for seed in range(2)]


GRID = np.linspace(-0.95, 0.95, 50)[:, None]


def information(model):
    """Return what the records say of values at the places, as one vector."""
    recorded, posterior = model.recorded, model.posteriors[0]
    mean = posterior.moments.w @ posterior.features.evaluate(recorded.places)
    belief = PlaceBelief(mean, lambda: posterior.covariance(recorded.places))
    found = recorded.records(0, model.stages[0], belief, 0.1, 0.2)
    return sum((record.operator.T / record.variance) @ record.a for record in found)


@pytest.mark.parametrize("kind", ["few", "many"])
def test_a_file_brings_records_back(kind, request, tmp_path):
    model = request.getfixturevalue(kind)[0]
    model.save(tmp_path / "with.json")
    model.save(tmp_path / "without.json", records=False)
    again = load(tmp_path / "with.json")
    told, known = information(again), information(model)
    np.testing.assert_allclose(told, known, atol=1e-4 * np.abs(known).max())
    assert load(tmp_path / "without.json").recorded is None
    assert "records" not in json.loads((tmp_path / "without.json").read_text())
    assert again.id == model.id


def test_a_file_with_damaged_records_is_refused(few, tmp_path):
    few[0].save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    del document["digest"]
    for damage in (
        {"version": 99},
        {"kind": "other"},
        {"corrections": [[[2.0] * 4, [0.0] * 4]]},
        {"places": {"type": "<f8", "shape": [2, 1], "zlib": "AAAA"}},
        {"targets": []},
    ):
        spoiled = {**document, "records": {**document["records"], **damage}}
        (tmp_path / "bad.json").write_text(json.dumps(spoiled))
        with pytest.raises(ModelFileError):
            load(tmp_path / "bad.json")


def test_pooled_models_are_nearer_than_a_release_and_less_sure_than_all_are_wrong(few):
    both = pool(few)
    truth = curve(GRID[:, 0])
    errors = [np.sqrt(np.mean((model.predict(GRID) - truth) ** 2)) for model in few]
    mean, sd = both.mean(GRID, return_std=True, latent=True)
    assert np.sqrt(np.mean((mean - truth) ** 2)) < np.mean(errors)
    single = np.mean([m.mean(GRID, return_std=True, latent=True)[1] for m in few])
    assert sd.mean() < single
    assert np.mean(np.abs(mean - truth) < 3 * sd) > 0.9
    assert both.stages[0][0].n == 1800


def test_pooled_models_of_categories_predict_report_and_come_back(many, tmp_path):
    both = pool(many)
    rng = np.random.default_rng(9)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    X["site"] = rng.choice(["north", "south", "west"], 300)
    truth = X["a"] + np.sin(X["b"]) + 0.5 * (X["site"] == "south")
    errors = [np.sqrt(np.mean((model.predict(X) - truth) ** 2)) for model in many]
    assert np.sqrt(np.mean((both.predict(X) - truth) ** 2)) < np.mean(errors)
    low, high = both.predict_interval(X, 0.95)
    y = truth + 0.3 * rng.standard_normal(300)
    assert 0.88 < np.mean((low <= y) & (y <= high)) <= 1.0
    both.save(tmp_path / "both.json")
    both.report(tmp_path / "both.html")
    again = load(tmp_path / "both.json")
    np.testing.assert_allclose(again.predict(X), both.predict(X), rtol=1e-9)
    assert [m.id for m in again.members] == [m.id for m in many]
    assert both.importance().inputs[0] in ("a", "b")


def test_releases_of_different_curves_are_refused_and_the_odd_one_is_named(few):
    odd = fitted(600, 7, shift=-0.8)
    with pytest.raises(PoolingError, match="function: release 2 has") as caught:
        pool([few[0], odd, few[1], few[2]])
    assert caught.value.code == "different-curves"
    told = pool([few[0], odd, few[1], few[2]], different_curves=True)
    assert told.findings["pooled"]["between"][0] > 0.1
    alone = pool(few)
    assert alone.findings["pooled"]["between"] == [0.0]
    wider, sure = (m.mean(GRID, return_std=True, latent=True)[1].mean() for m in (told, alone))
    assert wider > 1.5 * sure


def test_only_models_of_one_study_with_records_are_pooled(few):
    with pytest.raises(PoolingError, match="two models or more"):
        pool(few[:1])
    with pytest.raises(PoolingError, match="same release"):
        pool([few[0], few[0]])
    with pytest.raises(PoolingError, match="the bounds of input: -2 to 2, not -1 to 1"):
        pool([few[0], fitted(600, 5, bounds=(-2, 2))])
    with pytest.raises(PoolingError, match="no records"):
        pool([few[0], replace(few[1], recorded=None)])


def test_a_pooled_model_is_its_members(few, tmp_path):
    pair = pool(few[:2])
    three = pool([pair, few[2]])
    np.testing.assert_allclose(three.predict(GRID), pool(few).predict(GRID), rtol=1e-9)
    assert len(three.members) == 3


def test_what_somebody_in_all_releases_pays_is_verified(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 1))
    models = [
        PrivateGPRegressor(epsilon, 1e-5, bounds=(-1, 1), target_bounds=(-2, 2))
        .fit(X, curve(X[:, 0]))
        .model_
        for epsilon in (0.5, 1.5)
    ]
    both = pool(models)
    assert both.certificate.mu == pytest.approx(
        math.hypot(*(model.certificate.mu for model in models)), rel=1e-12
    )
    assert both.certificate.epsilon > 1.5
    assert both.certificate.is_private
    assert "Release 1 promises its own people: (0.5, 1e-05)" in str(both.certificate)
    both.save(tmp_path / "both.json")
    assert all(finding.holds for finding in verify(tmp_path / "both.json"))
    document = json.loads((tmp_path / "both.json").read_text())
    document["guarantee"]["mu"] /= 2
    (tmp_path / "bad.json").write_text(json.dumps(document))
    wrong = {finding.question for finding in verify(tmp_path / "bad.json") if not finding.holds}
    assert "for somebody in all releases their μ² add up" in wrong
    with pytest.raises(ModelFileError, match="guarantee"):
        load(tmp_path / "bad.json")


@pytest.fixture(scope="module")
def pooled(few, tmp_path_factory):
    """Return the file of a pooled model, as values."""
    path = tmp_path_factory.mktemp("pooled") / "model.json"
    pool(few[:2]).save(path)
    document = json.loads(path.read_text())
    del document["digest"]
    return document


def written(document, folder):
    path = folder / "model.json"
    path.write_text(json.dumps({**document, "digest": digest(document)}))
    return path


def contradictions(document, folder):
    found = verify(written(document, folder))
    return {finding.question for finding in found if not finding.holds}


def with_member(document, edit):
    """Return the file with a release that was changed by whoever knows the format."""
    (member,) = unpack_documents(document["members"][:1], "members")
    edit(member)
    return {**document, "members": [pack_document(member), *document["members"][1:]]}


def test_a_pooled_file_promises_what_its_releases_do(pooled, tmp_path):
    simulated = {"it claims to be private", *(f"release {k} of 2 holds by itself" for k in (1, 2))}
    assert contradictions(pooled, tmp_path) == simulated
    sums = "for somebody in all releases their μ² add up"
    for edit, question in {
        "about": ({**pooled, "about": "Guarantee: exp(0.1)."}, "its words say what its numbers do"),
        "settings": (
            {**pooled, "settings": {**pooled["settings"], "epsilon": 0.1}},
            "what was asked for is what is promised",
        ),
        "people": ({**pooled, "guarantee": {**pooled["guarantee"], "per_person": True}}, sums),
        "relation": (
            {**pooled, "guarantee": {**pooled["guarantee"], "neighbours": "add-remove"}},
            sums,
        ),
        "name": ({**pooled, "id": "0" * 32}, "its name is that of its sums"),
    }.values():
        assert question in contradictions(edit, tmp_path)


def changed(document, *names, value):
    """Return a copy of values with another one in their midst."""
    copy = json.loads(json.dumps(document))
    part = copy
    for name in names[:-1]:
        part = part[name]
    part[names[-1]] = value
    return copy


def test_what_pooling_found_is_about_its_releases(pooled, tmp_path):
    found = pooled["findings"]["pooled"]
    name, target, *_ = found["differences"][0]
    for names, value in (
        (("settings", "weight_bound"), 3.0),
        (("findings", "pooled", "rows"), [1e6, found["rows"][1]]),
        (("findings", "pooled", "agreement"), f"The releases agree: most of all, {name}."),
        (("findings", "pooled", "differences"), [[name, target, 9.0, 1e-9, 1.0, 0.1]]),
        (("findings", "number of rows"), {"usable": 1.0}),
        (("stages", 1, "targets", 0, "sigma_a"), 1e-3),
        (("stages",), pooled["stages"][:1]),
    ):
        edited = changed(pooled, *names, value=value)
        assert "what pooling found is about its releases" in contradictions(edited, tmp_path)
    other = [pack_document(each) for each in unpack_documents(pooled["members"], "members")[::-1]]
    assert "its members are those that its name covers" in contradictions(
        {**pooled, "members": other}, tmp_path
    )


def test_releases_of_a_pooled_file_are_different_and_unchanged(pooled, tmp_path):
    def changed(member):
        member["stages"][0]["targets"][0]["c"] += 1.0

    path = written(with_member(pooled, changed), tmp_path)
    assert "its name is that of its sums" in verify(path)[1].detail
    with pytest.raises(ModelFileError, match="id"):
        load(path)
    path = written({**pooled, "members": pooled["members"][:1] * 2}, tmp_path)
    for reads in (verify, load):
        with pytest.raises(ModelFileError, match="each once"):
            reads(path)


def test_packed_text_that_becomes_too_much_is_refused_before_it_does(pooled, tmp_path):
    lists = pack_bytes(b"[" + b"[]," * 2**20 + b"[]]")
    constants = pack_bytes(b'{"epsilon": NaN}')
    large = pack_bytes(b" " * (LARGEST_FILE // 2 + 1))
    for members in ([lists], [constants], [large, large]):
        path = written({**pooled, "members": members}, tmp_path)
        for reads in (verify, load):
            with pytest.raises(ModelFileError):
                reads(path)
    zeros = pack(np.zeros((2**23, 1)), SINGLE)

    def many(member):
        member["records"]["targets"] = [{"bias": [0, 0, 0], "guard": zeros}] * 5

    path = written(with_member(pooled, many), tmp_path)
    with pytest.raises(ModelFileError, match="packs more numbers"):
        load(path)


def test_relations_that_differ_are_said_of_replaced_units(few):
    one = few[0].certificate
    other = replace(one, neighbours=Neighbours.ADD_REMOVE)
    together = Certificate.of_pool([one, other])
    assert together.neighbours is Neighbours.REPLACE
    assert together.mu == pytest.approx(one.mu * math.sqrt(5.0), rel=1e-12)


def test_a_difference_between_releases_is_integrated_out():
    rng = np.random.default_rng(3)
    d, tau = 4, 0.7
    H, y, L = rng.normal(size=(9, d)), rng.normal(size=9), np.tril(rng.normal(size=(d, d)))
    reading = ReadRecords(H.T @ H, H.T @ y, -0.5 * float(y @ y))
    found = softened(reading, L, tau)
    # y = H(w + δ) + N(0, I), δ ~ N(0, τ²LLᵀ): y ~ N(Hw, I + τ²HLLᵀHᵀ)
    S = np.eye(9) + tau**2 * H @ L @ L.T @ H.T
    np.testing.assert_allclose(found.J, H.T @ np.linalg.solve(S, H), atol=1e-10)
    np.testing.assert_allclose(found.h, H.T @ np.linalg.solve(S, y), atol=1e-10)
    exact = -0.5 * float(y @ np.linalg.solve(S, y)) - 0.5 * np.linalg.slogdet(S)[1]
    assert found.constant == pytest.approx(exact)


def test_records_are_read_again_under_another_kernel_for_nothing(few, tmp_path):
    model = few[0]
    again, rough = model.reread(), model.reread(0.3**2 * Matern(0.05, nu=0.5))
    truth = curve(GRID[:, 0])
    own, same = (np.mean((m.predict(GRID) - truth) ** 2) for m in (model, again))
    assert same < 2 * own
    smooth, other = (m.posteriors[0].log_evidence for m in (again, rough))
    assert smooth > other
    assert rough.certificate is model.certificate
    rough.save(tmp_path / "rough.json")
    np.testing.assert_allclose(load(tmp_path / "rough.json").predict(GRID), rough.predict(GRID))


def test_what_is_no_list_of_models_is_refused_in_words(few):
    with pytest.raises(TypeError, match="pass a list of models, not FittedModel"):
        pool(few[0])
    with pytest.raises(ValueError, match="one name for each of 2 models"):
        pool(few[:2], names=["north"])
    with pytest.raises(PoolingError, match="read its `members` again"):
        pool(few[:2]).reread()


def test_pool_is_exported():
    assert dpgp.pool is pool


def test_what_follows_the_scale_comes_back_from_a_file(many, tmp_path):
    recorded = many[0].recorded
    follows = replace(recorded, follows=(recorded.places[:, 0],))
    told = replace(many[0], recorded=follows, records_digest=None)
    told.save(tmp_path / "one.json")
    (found,) = load(tmp_path / "one.json").recorded.follows
    np.testing.assert_allclose(found, recorded.places[:, 0], rtol=1e-6)


def test_what_clipping_did_as_the_scale_changes_is_given_back():
    rng = np.random.default_rng(5)
    places, H = rng.uniform(-1, 1, (30, 2)), rng.normal(size=(8, 30))
    recorded = SimpleNamespace(
        places=places, follows=(places[:, 0] ** 3,), biases=(BiasPrior(0.1, 0.2, 0.05),)
    )
    shapes, mean, sds = Release(SimpleNamespace(recorded=recorded), places).clipped(0)
    np.testing.assert_array_equal(shapes[:, -1], places[:, 0] ** 3)
    assert (mean[-1], sds[-1]) == (1.0, 1.0)
    X, y, Z = H @ rng.normal(size=(30, 4)), rng.normal(size=8), -H @ shapes
    found = _without_bias(X, y, 0.0, Z, mean, sds)
    # y = Xw + Zb + N(0, I), b ~ N(mean, diag(sds²))
    S = np.eye(8) + (Z * sds**2) @ Z.T
    np.testing.assert_allclose(found.J, X.T @ np.linalg.solve(S, X), atol=1e-8)
    np.testing.assert_allclose(found.h, X.T @ np.linalg.solve(S, y - Z @ mean), atol=1e-8)
