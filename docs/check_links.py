"""Check that every relative link and figure in the Markdown documents leads to a file."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")


def broken_links():
    """Return "document: target" for every link that leads nowhere."""
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    return [
        f"{document.relative_to(ROOT)}: {target}"
        for document in documents
        for target in LINK.findall(document.read_text())
        if not (document.parent / target).exists()
    ]


if __name__ == "__main__":
    problems = broken_links()
    print("\n".join(problems) or "all links lead somewhere")
    sys.exit(bool(problems))
