"""Print the share of lines and branches that tests ran, by package: `make coverage`."""

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

COUNTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        subprocess.run([sys.executable, "-m", "coverage", "json", "-q", "-o", report], check=True)
        files = json.loads(report.read_text())["files"]
    packages: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for name, file in files.items():
        inside = name.split("dpgp/")[-1].split("/")
        for package in ("all", inside[0] if len(inside) > 1 else "(top)"):
            for place, count in enumerate(COUNTS):
                packages[package][place] += file["summary"][count]
    print(f"{'package':12}{'lines':>8}{'ran':>8}{'branches':>10}{'ran':>8}")
    for package, (lines, ran, branches, taken) in sorted(packages.items()):
        of_branches = f"{taken / branches:8.1%}" if branches else ""
        print(f"{package:12}{lines:8}{ran / lines:8.1%}{branches:10}{of_branches}")


if __name__ == "__main__":
    main()
