"""Kernels on strings and graphs against explicit features, and fitted end to end."""

import math
import pickle
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone

from dpgp import NormalizedKernel
from dpgp.features.inducing import kernel_features
from dpgp.kernels.counts import CountKernel, Graph, SpectrumKernel, WeisfeilerLehmanKernel
from dpgp.paper import dp_gp_inference
from dpgp.paper.norm_bounds import eigenvalue_bound
from dpgp.privacy.noise import SeededNoiseWarning
from dpgp.private.rows import Rows, object_array
from dpgp.private.sums import integer_columns

ALPHABET = "AB"
strings = st.text(ALPHABET, max_size=12)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    labels = draw(st.lists(st.sampled_from(["C", "O", 7]), max_size=6))
    pairs = st.tuples(*[st.integers(0, max(len(labels) - 1, 0))] * 2)
    edges = draw(st.lists(pairs, max_size=8)) if labels else []
    return Graph(tuple(labels), tuple(edge for edge in edges if edge[0] != edge[1]))


def explicit_spectrum(x: str, length: int) -> np.ndarray:
    words = ["".join(letters) for letters in product(ALPHABET, repeat=length)]
    return np.array([sum(x.startswith(word, i) for i in range(len(x))) for word in words])


def shared_subtrees(first: Graph, second: Graph, depth: int) -> int:
    """The kernel as its definition has it: pairs of nodes whose subtrees are the same."""
    return sum(
        same_subtree(first, v, second, w, i)
        for i in range(depth + 1)
        for v in range(len(first.labels))
        for w in range(len(second.labels))
    )


def same_subtree(first: Graph, v: int, second: Graph, w: int, depth: int) -> bool:
    if depth == 0:
        return first.labels[v] == second.labels[w]
    if not same_subtree(first, v, second, w, depth - 1):
        return False
    unmatched = list(adjacent(second, w))
    for a in adjacent(first, v):
        match = next((b for b in unmatched if same_subtree(first, a, second, b, depth - 1)), None)
        if match is None:
            return False
        unmatched.remove(match)
    return not unmatched


def adjacent(graph: Graph, node: int) -> set[int]:
    return {b for edge in graph.edges for a, b in (edge, edge[::-1]) if a == node}


@given(st.lists(strings, max_size=4), st.lists(strings, max_size=4), st.integers(1, 3))
def test_spectrum_is_the_inner_product_of_explicit_counts(X, Y, length):
    kernel = SpectrumKernel(length)
    features = [[explicit_spectrum(x, length) for x in side] for side in (X, Y)]
    expected = np.array([[a @ b for b in features[1]] for a in features[0]])
    np.testing.assert_array_equal(kernel(X, Y), expected.reshape(len(X), len(Y)))
    np.testing.assert_array_equal(kernel.diag(X), [a @ a for a in features[0]])


@given(graphs(), graphs(), st.integers(0, 3))
def test_weisfeiler_lehman_counts_pairs_of_equal_subtrees(first, second, iterations):
    kernel = WeisfeilerLehmanKernel(iterations)
    assert kernel([first], [second]) == shared_subtrees(first, second, iterations)
    assert kernel.diag([first]) == shared_subtrees(first, first, iterations)


def test_weisfeiler_lehman_by_hand():
    # rounds: labels C C O | C{C}, C{C,O}, O{C}   against   O C | O{C}, C{O}
    ethanol = Graph(("C", "C", "O"), ((0, 1), (1, 2)))
    methanol = Graph(("O", "C"), ((0, 1),))
    assert WeisfeilerLehmanKernel(0)([ethanol], [methanol]) == 3  # 2·1 + 1·1
    assert WeisfeilerLehmanKernel(1)([ethanol], [methanol]) == 4  # and O{C} once in each
    assert WeisfeilerLehmanKernel(2)([ethanol], [methanol]) == 4
    np.testing.assert_array_equal(WeisfeilerLehmanKernel(1).diag([ethanol, methanol]), [8, 4])


@given(graphs(), st.randoms(use_true_random=False))
def test_renumbering_nodes_and_repeating_edges_changes_nothing(graph, random):
    order = list(range(len(graph.labels)))
    random.shuffle(order)
    labels = tuple(graph.labels[old] for old in order)
    edges = [(order.index(b), order.index(a)) for a, b in graph.edges]
    kernel = WeisfeilerLehmanKernel(2)
    renumbered = Graph(labels, tuple(edges + edges))
    np.testing.assert_array_equal(
        kernel([graph, renumbered]), np.full((2, 2), kernel.diag([graph]))
    )


CASES = [
    pytest.param(SpectrumKernel(2), strings, id="spectrum"),
    pytest.param(WeisfeilerLehmanKernel(2), graphs(), id="weisfeiler-lehman"),
]


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize(("kernel", "elements"), CASES)
@given(data=st.data())
def test_matrices_are_symmetric_and_positive_semidefinite(kernel, elements, normalised, data):
    X = data.draw(st.lists(elements, min_size=1, max_size=6))
    k = NormalizedKernel(kernel) if normalised else kernel
    K = k(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(K, k(X, X))
    np.testing.assert_allclose(np.diag(K), k.diag(X), rtol=1e-12)
    assert np.linalg.eigvalsh(K)[0] >= -1e-12 * max(np.trace(K), 1.0)


@pytest.mark.parametrize(("kernel", "elements"), CASES)
@given(data=st.data())
def test_eigenvalue_bound_is_never_exceeded(kernel, elements, data):
    Z = data.draw(st.lists(elements, min_size=1, max_size=5))
    x = data.draw(elements)
    k = 2.0 * NormalizedKernel(kernel)
    assume(k.diag(Z).any())
    bound = eigenvalue_bound(k, Z)
    assert np.linalg.norm(k(Z, [x])) <= bound
    assert bound <= math.sqrt(2.0 * np.sum(k.diag(Z))) * (1.0 + 1e-11)


def test_eigenvalue_bound_is_attained_and_beats_cauchy_schwarz():
    k = NormalizedKernel(SpectrumKernel(2))
    assert eigenvalue_bound(k, ["AA", "BB", "CC"]) == pytest.approx(1.0, abs=1e-11)
    assert eigenvalue_bound(k, ["AA"] * 3) == pytest.approx(math.sqrt(3.0), abs=1e-11)
    assert np.linalg.norm(k(["AA"] * 3, ["AA"])) == pytest.approx(math.sqrt(3.0))


def test_elements_without_substructures_have_variance_zero():
    assert SpectrumKernel(3).diag(["", "AB", "ABA"]).tolist() == [0, 0, 1]
    empty, isolated = Graph(()), Graph(("C", "O"))
    assert WeisfeilerLehmanKernel(1).diag([empty, isolated]).tolist() == [0, 4]
    assert WeisfeilerLehmanKernel(1)([isolated], [Graph(("C", "O"), ((0, 1),))]) == 2
    assert NormalizedKernel(SpectrumKernel(3))(["AB"], ["ABA", ""]).tolist() == [[0, 0]]
    assert SpectrumKernel(3)([], ["ABA"]).shape == (0, 1)


def test_kernels_are_scikit_learn_kernels():
    for kernel in (SpectrumKernel(4), WeisfeilerLehmanKernel(3)):
        assert clone(kernel) == kernel
        assert not kernel.requires_vector_input
        assert not NormalizedKernel(kernel).requires_vector_input
        assert not (2.0 * NormalizedKernel(kernel) + 1.0).requires_vector_input


def test_a_kernel_of_ones_own_says_what_is_counted():
    class WordKernel(CountKernel):
        def counts(self, x):
            return Counter(x.split())

    assert WordKernel()(["a b a"], ["a", "b c"]).tolist() == [[2, 1]]
    assert repr(WordKernel()) == "WordKernel()"
    assert repr(SpectrumKernel(4)) == "SpectrumKernel(length=4)"


@pytest.mark.parametrize("rule", ["trivial", "certified"])
def test_unbounded_kernels_are_refused(rule):
    with pytest.raises(ValueError, match="`kernel`"):
        dp_gp_inference(
            *some_strings(5),
            MOTIFS,
            SpectrumKernel(2),
            epsilon=1.0,
            **PUBLIC | {"norm_bound": rule},
        )
    with pytest.raises(ValueError, match="wrap it in NormalizedKernel"):
        eigenvalue_bound(SpectrumKernel(2), MOTIFS)


def test_graph_is_a_value():
    graph = Graph(["C", "O"], [[np.int64(0), 1]])
    assert graph == Graph(("C", "O"), ((0, 1),))
    assert hash(graph) == hash(Graph(("C", "O"), ((0, 1),)))
    graph.subtree_counts(2)
    assert repr(graph) == "Graph(labels=('C', 'O'), edges=((0, 1),))"
    assert pickle.loads(pickle.dumps(graph)) == graph


@pytest.mark.parametrize("edges", [[(0, 2)], [(-1, 0)], [(0, 1, 1)], [(0,)]])
def test_edges_must_be_pairs_of_nodes(edges):
    with pytest.raises(ValueError, match="`edges` must be pairs of node numbers"):
        Graph(("secret", "C"), edges)


@pytest.mark.parametrize("kernel", [SpectrumKernel(0), SpectrumKernel(1.5), SpectrumKernel(True)])
def test_length_must_be_a_positive_whole_number(kernel):
    with pytest.raises(ValueError, match="`length` must be a whole number of at least 1"):
        kernel(["AB"])


def test_iterations_must_be_a_whole_number():
    with pytest.raises(ValueError, match="`iterations` must be a whole number of at least 0"):
        WeisfeilerLehmanKernel(-1).diag([Graph(("C",))])


@pytest.mark.parametrize(
    ("kernel", "private"), [(SpectrumKernel(), 12345), (WeisfeilerLehmanKernel(), "secret")]
)
def test_wrong_types_are_refused_without_showing_values(kernel, private):
    with pytest.raises(TypeError, match="takes") as error:
        kernel([private])
    assert str(private) not in str(error.value)


# -- fitted ---------------------------------------------------------------------------------------

KERNEL = NormalizedKernel(SpectrumKernel(2))
MOTIFS = ["ABAB", "AABB", "BBBB"]
PUBLIC = {"noise_std": 0.5, "target_bound": 1.0, "delta": 1e-5, "norm_bound": "trivial"}


def some_strings(n, seed=0):
    generator = np.random.default_rng(seed)
    X = ["".join(generator.choice(list("AB"), generator.integers(0, 20))) for _ in range(n)]
    return X, np.array([x.count("AB") for x in X]) / 10.0


def test_without_noise_the_fit_is_the_sparse_posterior_of_explicit_features():
    X, y = some_strings(60)
    posterior = dp_gp_inference(X, y, MOTIFS, KERNEL, epsilon=math.inf, **PUBLIC)
    K_zz, K_zx = KERNEL(MOTIFS), KERNEL(MOTIFS, X)
    Sigma = np.linalg.inv(K_zz + K_zx @ K_zx.T / 0.5**2)
    expected = KERNEL(["ABBA"], MOTIFS) @ Sigma @ K_zx @ y / 0.5**2
    np.testing.assert_allclose(posterior.predict(["ABBA"]), expected, rtol=1e-4)


def test_strings_without_substrings_are_predicted_by_the_prior():
    X, y = some_strings(60)
    posterior = dp_gp_inference(X, y, MOTIFS, KERNEL, epsilon=1.0, prior_mean=0.3, **PUBLIC)
    mean, std = posterior.predict(["", "A"], return_std=True)
    assert mean.tolist() == [0.3, 0.3]
    assert std.tolist() == [0.0, 0.0]


def test_integers_of_a_row_depend_on_that_row_alone():
    X, y = some_strings(30)
    features = kernel_features(KERNEL, MOTIFS, 2.0)

    def integers(rows):
        block = Rows(object_array(X)[rows], y[None, rows], np.ones(len(y[rows]), dtype=bool))
        return integer_columns(block, features)

    alone = np.hstack([integers(slice(i, i + 1)) for i in range(30)])
    np.testing.assert_array_equal(integers(slice(None)), alone)


@pytest.mark.parametrize("as_input", [list, tuple, object_array])
def test_rows_come_as_any_sequence_in_any_order(as_input):
    def fit(X, y):
        return dp_gp_inference(X, y, MOTIFS, KERNEL, epsilon=math.inf, **PUBLIC)

    X, y = some_strings(40)
    np.testing.assert_array_equal(fit(as_input(X), y).mean, fit(X[::-1], y[::-1]).mean)


def test_ignored_rows_contribute_nothing():
    X, y = some_strings(40)
    incomplete = np.r_[y, np.nan, np.nan]
    full = dp_gp_inference(X, y, MOTIFS, KERNEL, epsilon=math.inf, **PUBLIC)
    ignoring = dp_gp_inference(
        [*X, "ABAB", "BABA"],
        incomplete,
        MOTIFS,
        KERNEL,
        epsilon=math.inf,
        missing="ignore",
        **PUBLIC,
    )
    np.testing.assert_array_equal(ignoring.mean, full.mean)


def test_a_fitted_model_holds_no_row():
    labels = [("C", "O", f"ZQX-{i}") for i in range(20)]
    X = [Graph(label, ((0, 1), (1, 2))) for label in labels]
    Z = [Graph(("C", "O"), ((0, 1),)), Graph(("C", "C"), ((0, 1),))]
    kernel = NormalizedKernel(WeisfeilerLehmanKernel(2))
    with pytest.warns(SeededNoiseWarning):
        model = dp_gp_inference(X, np.ones(20), Z, kernel, epsilon=1.0, random_state=0, **PUBLIC)
    model.predict(X)
    assert b"ZQX" not in pickle.dumps(model)
    assert "ZQX" not in repr(model)
