"""Shell cells of the documentation: all output in its order and plain, failing as a script does."""

import os
import subprocess

from IPython.core.magic import register_cell_magic


@register_cell_magic
def bash(line, cell):
    """Run a cell as a script that ends at the first command that fails."""
    script = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", cell],
        env=os.environ | {"COLUMNS": "84", "FORCE_COLOR": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    print(script.stdout, end="")
    script.check_returncode()
