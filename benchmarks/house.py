"""How large the house is, and how much of it one row walks through.

    python benchmarks/house.py [--markdown]

Lengths are lines of files and of functions as they are written, docstrings included; `__init__.py`
is not counted among the small modules. A walk is a fit of 2,000 simulated rows in a process of its
own: functions that ran, of which lambdas and generator expressions are some and comprehensions none
(later Pythons run them in place), the modules that they are in, and those too of which no more
than the body of a class ran, when it was imported. Those that may see rows are the packages
``private``, ``privacy``, ``features`` and ``kernels``; the others plan, infer and look after it.
"""

import argparse
import ast
import contextlib
import inspect
import io
import statistics
import sys
import tempfile
import threading
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from workshop import write_table

import dpgp

HOUSE = Path(dpgp.__file__).parent
LONG, SHORT = 350, 40  # lines of a module: the soft limit, and what is a paragraph and no chapter
ROWS = 2000
MAY_SEE_ROWS = ("private", "privacy", "features", "kernels")
INLINED = ("<listcomp>", "<dictcomp>", "<setcomp>")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--markdown", action="store_true", help="tables for a page or a change log")
    style = box.MARKDOWN if parser.parse_args().markdown else box.SIMPLE_HEAD
    console = Console(width=120)
    console.print(table_of_packages(style))
    console.print(table_of_walks(style))


@dataclass(frozen=True)
class Module:
    """The lengths of a module and of its functions, in lines."""

    name: str
    lines: int
    functions: tuple[int, ...]
    classes: int

    @classmethod
    def read(cls, path):
        """Measure a file."""
        text = path.read_text(encoding="utf-8")
        nodes = list(ast.walk(ast.parse(text)))
        functions = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        lengths = tuple(n.end_lineno - n.lineno + 1 for n in functions)
        classes = sum(isinstance(n, ast.ClassDef) for n in nodes)
        return cls(path.stem, len(text.splitlines()), lengths, classes)


def table_of_packages(style):
    packages = defaultdict(list)
    for path in sorted(HOUSE.rglob("*.py")):
        packages[path.relative_to(HOUSE).parts[0].removesuffix(path.name)].append(Module.read(path))
    columns = ("modules", "lines", "functions", "classes", "median function", "longest")
    table = right_aligned("package", *columns, f"over {LONG}", f"under {SHORT}", style=style)
    for name in sorted(packages):
        table.add_row(f"dpgp.{name}".rstrip("."), *sizes(packages[name]))
    table.add_row("in all", *sizes([module for each in packages.values() for module in each]))
    return table


def sizes(modules):
    lengths = [length for module in modules for length in module.functions] or [0]
    numbers = (
        len(modules),
        sum(module.lines for module in modules),
        sum(len(module.functions) for module in modules),
        sum(module.classes for module in modules),
        int(statistics.median(lengths)),
        max(lengths),
        sum(module.lines > LONG for module in modules),
        sum(module.lines < SHORT and module.name != "__init__" for module in modules),
    )
    return [f"{number:,}" for number in numbers]


def table_of_walks(style):
    columns = ("functions", "modules", "that may see rows", "and imported classes")
    table = right_aligned("walk of a row", *columns, style=style)
    walks = {
        "fit of two inputs": (fit_arrays, 2),
        "fit of six inputs": (fit_arrays, 6),
        "dpgp fit, a CSV file": (fit_file, 2),
    }
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as processes:
        for name, (job, inputs) in walks.items():
            table.add_row(name, *map(str, processes.submit(walk, job, inputs).result()))
    return table


def walk(job, inputs):
    """Run a job, and count functions that ran, their modules, which see rows, and all in use."""
    ran = set()

    def note(frame, event, argument):
        if event == "call":
            ran.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    with warnings.catch_warnings(action="ignore"), tempfile.TemporaryDirectory() as folder:
        job(Path(folder), inputs)
    sys.setprofile(None)
    threading.setprofile(None)
    ours = [code for code in ran if Path(code.co_filename).is_relative_to(HOUSE)]
    in_use = {code.co_filename for code in ours if code.co_name != "<module>"}
    functions = [
        code for code in ours
        if code.co_flags & inspect.CO_OPTIMIZED and code.co_name not in INLINED
    ]  # fmt: skip
    modules = {code.co_filename for code in functions}
    seeing = [name for name in modules if Path(name).relative_to(HOUSE).parts[0] in MAY_SEE_ROWS]
    return len(functions), len(modules), len(seeing), len(in_use)


def fit_arrays(folder, inputs):
    import numpy as np

    from dpgp import PrivateGPRegressor

    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (ROWS, inputs))
    y = np.clip(np.sin(3 * X[:, 0]) + X[:, -1] + rng.normal(0, 0.1, ROWS), -3, 3)
    bounds = {"bounds": (-1, 1), "target_bounds": (-3, 3)}
    PrivateGPRegressor(1.0, 1e-6, **bounds, random_state=0).fit(X, y)


def fit_file(folder, inputs):
    from dpgp.cli import app

    table = write_table(folder / "table.csv", ROWS, inputs)
    features = [word for k in range(inputs) for word in ("--feature", f"x{k}:-1:1")]
    budget = ("--epsilon", "1", "--delta", "1e-6", "--yes")
    call = ["fit", str(table), "--target", "y:-3:3", *features, *budget, "-o", str(folder / "m")]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        app(call, standalone_mode=False)


def right_aligned(first, *others, style):
    table = Table(first, box=style)
    for name in others:
        table.add_column(name, justify="right")
    return table


if __name__ == "__main__":
    main()
