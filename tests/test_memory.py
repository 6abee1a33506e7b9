import pytest

from dpgp.blas import CACHE_LINE, aligned
from dpgp.privacy.exact_sums import workspace


@pytest.mark.parametrize("shape", [(1,), (3, 5), (50, 2, 1024), (101, 4160)])
def test_an_array_begins_with_a_cache_line(shape):
    arrays = [aligned(*shape) for _ in range(5)]
    assert {array.ctypes.data % CACHE_LINE for array in arrays} == {0}
    assert {array.shape for array in arrays} == {shape}
    assert all(array.flags.writeable and array.flags.c_contiguous for array in arrays)


def test_every_feature_of_a_block_begins_with_a_cache_line():
    assert {row.ctypes.data % CACHE_LINE for row in workspace(7, 4096)} == {0}
