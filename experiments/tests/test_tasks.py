import numpy as np
import pytest

from dpgp.cli.output import DataError
from dpgp_experiments.tasks import BLOOD_PRESSURE, FILES, HEIGHT, package_task, read_task


def write(path, header, rows):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


@pytest.mark.parametrize("table", FILES, ids=lambda table: table.key)
def test_tables_are_recognised_by_their_columns(tmp_path, table):
    rows = [range(1, len(table.columns) + 1), range(2, len(table.columns) + 2)]
    task = read_task(write(tmp_path / "a.csv", ",".join(table.columns), rows))
    assert (task.key, task.title) == (table.key, table.title)
    assert len(task.bounds) == len(table.columns) - 1
    assert task.target_bounds == list(table.bounds.values())[-1]


def test_columns_may_come_in_any_order_and_among_others(tmp_path):
    path = write(tmp_path / "b.csv", "height,weight,age,male", [(150, 45, 60, 1), (140, 36, 63, 0)])
    task = read_task(path)
    np.testing.assert_array_equal(task.X, [[60, 45], [63, 36]])
    np.testing.assert_array_equal(task.y, [150, 140])
    assert "150" not in repr(task)


@pytest.mark.parametrize(
    ("content", "message"),
    [("a,b\n1,2\n", "columns"), ("", "columns"), ("age,weight_kg,height_cm\n1,x,2\n", "number")],
)
def test_other_tables_are_refused_without_their_values(tmp_path, content, message):
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        read_task(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_task(tmp_path / "absent.csv")


@pytest.mark.parametrize("table", [HEIGHT, BLOOD_PRESSURE], ids=lambda table: table.key)
def test_the_package_has_people(table):
    task = package_task(table)
    complete = task.complete_rows()
    assert len(task.y) == 8366
    assert 6000 < len(complete.y) < 8366
    assert complete.complete.all()
