"""Break a module in one place at a time and name the breaks that no test notices.

`python tests/mutants.py privacy/books private/wall:20` mutates these modules of `dpgp` in a copy of
the tree, at most 20 places of the second, and runs the tests of each. A survivor is equivalent to
the original, or a test is missing.
"""

import ast
import contextlib
import copy
import importlib
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]
ALSO_TESTED_BY = {
    "privacy/books": ("privacy/accounting", "privacy/events"),
    "privacy/certificate": ("privacy/books",),
    "privacy/exact_sums": ("privacy/fixed_point",),
    "privacy/neighbours": ("privacy/sensitivity",),
    "privacy/noise": ("privacy/discretisation",),
    "privacy/rounding": ("privacy/sensitivity",),
    "private/cells": ("private/table_rows", "private/a_row_is_its_own"),
    "private/engines": ("private/clusters",),
    "private/files": ("private/tables", "private/bad_lines"),
    "private/fit": ("private/fits_of_parts", "private/joint"),
    "private/row_reader": ("private/table_rows", "private/tables"),
    "private/rows": ("private/arrays",),
    "private/sums": ("private/wall", "private/source"),
}
SECONDS = 120  # of CPU: a mutant that never ends counts as noticed

SWAPS: dict[type, list[type]] = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div],
    ast.Div: [ast.Mult],
    ast.Pow: [ast.Mult],
    ast.LShift: [ast.RShift],
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.And: [ast.Or],
    ast.Or: [ast.And],
}
OTHER_NAMES = {"min": "max", "max": "min", "all": "any", "inf": "nan", "ceil": "floor"}
SKIPPED = (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.arg)


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in the place of `node`."""
    match node:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op):
            yield from (changed(node, op=other()) for other in SWAPS.get(type(op), []))
        case ast.Compare(ops=[op]):
            yield from (changed(node, ops=[other()]) for other in SWAPS.get(type(op), []))
        case ast.Constant(value=bool(value)):
            yield changed(node, value=not value)
        case ast.Constant(value=int(value) | float(value)):
            yield changed(node, value=value + 1)
            yield changed(node, value=value * 2 if value else -1.0)
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.Attribute(attr=name) if name in OTHER_NAMES:
            yield changed(node, attr=OTHER_NAMES[name])
        case ast.Name(id=name) if name in OTHER_NAMES:
            yield changed(node, id=OTHER_NAMES[name])
        case ast.Call(func=ast.Name(id=name), args=[_, value]) if "as_" in name:
            yield value
        case ast.Call(args=[value, *_], keywords=[]):
            yield value
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield ast.Pass()


def changed(node: ast.AST, **fields: object) -> ast.AST:
    twin = copy.copy(node)
    for name, value in fields.items():
        setattr(twin, name, value)
    return twin


def places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Yield every node below `node`: its parent, the field it stands in, and where in a list."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST) and not isinstance(child, SKIPPED):
                yield node, field, index if isinstance(value, list) else None, child
                yield from places(child)


def mutants(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, change, and the whole text of every mutant."""
    tree = ast.parse(source)
    for parent, field, index, node in list(places(tree)):
        for variant in variants(node):
            put(parent, field, index, variant)
            yield node.lineno, f"{ast.unparse(node)}  ->  {ast.unparse(variant)}", ast.unparse(tree)
            put(parent, field, index, node)


def put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def passes(tests: list[str]) -> bool:
    """Run the tests in a child of this process, which has imported all that takes long."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
    options = ["-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow"]
    options += ["--hypothesis-profile", "mutants", "-W", "ignore:Module already imported"]
    os._exit(pytest.main([*options, *tests]))


def survivors(module: str, sample: int | None, tree: Path) -> None:
    """Print every mutant of a module that its tests do not notice."""
    path = tree / "src/dpgp" / f"{module}.py"
    source = path.read_text()
    names = (module, *ALSO_TESTED_BY.get(module, ()))
    files = (f"tests/{folder}/test_{name}.py" for folder, name in (n.split("/") for n in names))
    tests = [file for file in files if Path(file).exists()]
    if not tests:
        print(f"{module}: no tests of its own")
        return
    assert passes(tests), f"{module}: the tests fail without any mutant"
    tried = list(mutants(source))
    random.Random(0).shuffle(tried)
    lived = 0
    for line, change, text in tried[:sample]:
        path.write_text(text)
        if passes(tests):
            lived += 1
            print(f"{module}:{line}: {change}", flush=True)
    path.write_text(source)
    print(f"{module}: {lived} of {len(tried[:sample])} mutants survived", flush=True)


def main(modules: list[str]) -> None:
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]  # nothing need be made small
    hypothesis.settings.register_profile(
        "mutants", phases=phases, deadline=None, derandomize=True, database=None
    )
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        tree = Path(folder)
        for part in ("src", "tests"):
            shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", tree)
        sys.path.insert(0, str(tree / "src"))
        for argument in modules:
            module, _, sample = argument.partition(":")
            survivors(module, int(sample) if sample else None, tree)


if __name__ == "__main__":
    for slow in ("mpmath", "opendp.measurements", "scipy.optimize", "scipy.stats"):
        importlib.import_module(slow)
    main(sys.argv[1:])
