"""Write docs/constants.md: every named number of the code, with the reason that stands beside it.

    python docs/constants.py

A constant is a name in capitals, or a ClassVar, whose value is made of numbers alone. Its reason is
the comment above it, which may head a paragraph of constants, the one beside it, and the docstring
below.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

PAGE = Path(__file__).with_name("constants.md")
SOURCE = PAGE.parents[1] / "src" / "dpgp"
OF_A_FIT = ("inference", "steps", "planning", "outcomes", "privacy", "private")
"""Packages that decide what a fit releases and believes: there every number has its reason."""

HEAD = """\
# Constants

Named numbers of the code, and what set them: an argument, a proof, an experiment. *By hand* means
that no experiment on record decides; what follows says what is weighed, not that it was measured.
Where no fit depends on it, a number that needs no reason is left out. `python docs/constants.py`
writes this page from the code.
"""
COLUMNS = "| constant | value | reason |\n|---|---|---|\n"


@dataclass(frozen=True)
class Constant:
    """A named number, or several that are set together."""

    module: str
    name: str
    value: str
    reason: str

    @property
    def package(self) -> str:
        """The first folder; dpgp for modules beside them."""
        return self.module.split(".")[0] if "." in self.module else "dpgp"


def constants(source: Path = SOURCE) -> list[Constant]:
    """Return the constants of all modules, those of a fit first."""
    paths = sorted(source.rglob("*.py"), key=lambda path: path.with_suffix("").parts)
    found = [constant for path in paths for constant in _of_module(path, source)]
    return sorted(found, key=lambda constant: constant.package not in OF_A_FIT)


def _of_module(path: Path, source: Path) -> Iterator[Constant]:
    text = path.read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = {t.start[0]: t.string[1:].strip() for t in tokens if t.type == tokenize.COMMENT}
    headings = _headings(text.splitlines())
    module = ".".join(path.relative_to(source).with_suffix("").parts)
    for scope in ast.walk(ast.parse(text)):
        if isinstance(scope, ast.Module | ast.ClassDef) and not _is_enum(scope):
            prefix = scope.name + "." if isinstance(scope, ast.ClassDef) else ""
            for name, node, following in _assignments(scope):
                value = ast.get_source_segment(text, node.value)
                value = ast.unparse(node.value) if "\n" in value else value
                reason = _reason(node, following, comments, headings)
                yield Constant(module, prefix + name, value, reason)


def _is_enum(scope: ast.Module | ast.ClassDef) -> bool:
    bases = scope.bases if isinstance(scope, ast.ClassDef) else []
    return any("Enum" in ast.unparse(base) for base in bases)


def _assignments(
    scope: ast.Module | ast.ClassDef,
) -> Iterator[tuple[str, ast.Assign | ast.AnnAssign, ast.stmt | None]]:
    """Go through the constants of a scope: name, statement, and the statement that follows."""
    for node, following in zip_longest(scope.body, scope.body[1:]):
        if isinstance(node, ast.Assign):
            name, kind = ast.unparse(node.targets[0]).strip("()"), ""
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            name, kind = ast.unparse(node.target), ast.unparse(node.annotation)
        else:
            continue
        is_constant = name.upper() == name or kind.startswith("ClassVar")
        if is_constant and _is_number(node.value) and _has_digits(node.value):
            yield name, node, following


def _has_digits(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Constant) for part in ast.walk(node))


def _is_number(node: ast.expr) -> bool:
    """Whether an expression is made of numbers, names in capitals, and functions of both."""
    match node:
        case ast.Constant(value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.Name(name):
            return name.isupper()
        case ast.Attribute(ast.Name("math" | "np")):
            return True
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case ast.BinOp(left, _, right):
            return _is_number(left) and _is_number(right)
        case ast.Tuple(parts) | ast.List(parts) | ast.Dict(values=parts):
            return bool(parts) and all(map(_is_number, parts))
        case ast.Call(function, arguments, []):
            return ast.unparse(function).islower() and all(map(_is_number, arguments))
    return False


def _reason(
    node: ast.stmt, following: ast.stmt | None, comments: dict[int, str], headings: dict[int, str]
) -> str:
    """Return what stands beside a statement, below it, and above it."""
    words = [comments.get(line, "") for line in range(node.lineno, node.end_lineno + 1)]
    match following:
        case ast.Expr(ast.Constant(str(docstring))):
            words.append(" ".join(docstring.split()))
    return _sentences(filter(None, [*words, headings[node.lineno]]))


def _headings(lines: list[str]) -> dict[int, str]:
    """Return the comment above every line: one that opens a paragraph is for all of its lines."""
    found, paragraph, above = {}, "", []
    for number, line in enumerate(map(str.strip, lines), start=1):
        if line.startswith("#"):
            above.append(line[1:].strip())
            continue
        opens = number - len(above) == 1 or not lines[number - len(above) - 2].strip()
        paragraph = "" if not line else " ".join(above) if opens else paragraph
        found[number] = " ".join(above) or paragraph
        above = []
    return found


def _sentences(parts: Iterable[str]) -> str:
    """Join comments and docstrings: words begin with a capital, all end with a full stop."""
    capital = [re.sub("^[a-z](?=[a-z ])", lambda first: first[0].upper(), part) for part in parts]
    return " ".join(part.rstrip(".") + "." for part in capital)


def page() -> str:
    """Return the page, a table for each package."""
    found = [
        constant for constant in constants() if constant.package in OF_A_FIT or constant.reason
    ]
    parts = [HEAD]
    for package in dict.fromkeys(constant.package for constant in found):
        rows = [constant for constant in found if constant.package == package]
        parts.append(
            f"## {package}\n\n| constant | value | reason |\n|---|---|---|\n" + _rows(rows)
        )
    return "\n".join(parts)


def _rows(rows: list[Constant]) -> str:
    lines = [
        (f"`{c.module.removesuffix('.__init__')}.{c.name}`", f"`{c.value}`", _as_markdown(c.reason))
        for c in rows
    ]
    escaped = [[cell.replace("|", r"\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in escaped)


def _as_markdown(reason: str) -> str:
    """Turn roles into code, and documents into links."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", reason).replace("*", r"\*")
    return re.sub(r"\bdocs/([\w/-]+)\.md", r"[\1](\1.md)", text)


def without_reason() -> list[str]:
    """Return the numbers of a fit that stand there without one."""
    return [f"{c.module}.{c.name}" for c in constants() if c.package in OF_A_FIT and not c.reason]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    bare = without_reason()
    print("\n".join(bare) or f"wrote {PAGE.name}")
    sys.exit(bool(bare))
