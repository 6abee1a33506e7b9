import numpy as np

from dpgp.inference.many.records import lower_root


def test_a_covariance_of_low_rank_has_a_root_whatever_its_rounding_errors():
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(300, 300)))[0]
    eigenvalues = np.full(300, -2e-9)
    eigenvalues[:3] = 5.0, 2.0, 1.0
    C = (Q * eigenvalues) @ Q.T
    root = lower_root((C + C.T) / 2)
    np.testing.assert_allclose(root @ root.T, C, atol=1e-6)
