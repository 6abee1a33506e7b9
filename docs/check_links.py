"""Check what Sphinx does not see: links of README and its like, and documents that code names."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")
DOCUMENT = re.compile(r"\bdocs/[\w./-]+\.md\b")


def broken_links():
    """Return "file: target" for every relative link that leads nowhere."""
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("experiments/*.md")]
    return [
        f"{document.relative_to(ROOT)}: {target}"
        for document in documents
        for target in LINK.findall(document.read_text(encoding="utf-8"))
        if not (document.parent / target).exists()
    ]


def missing_documents():
    """Return "file: target" for every document that code refers to and that does not exist."""
    return [
        f"{file.relative_to(ROOT)}: {target}"
        for folder in ("src", "benchmarks", "examples", "experiments/src")
        for file in (ROOT / folder).rglob("*.py")
        for target in DOCUMENT.findall(file.read_text(encoding="utf-8"))
        if not (ROOT / target).exists()
    ]


if __name__ == "__main__":
    problems = broken_links() + missing_documents()
    print("\n".join(problems) or "all links lead somewhere")
    sys.exit(bool(problems))
