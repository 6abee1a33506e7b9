"""The documentation site: Sphinx, Markdown by MyST, every example executed. Built by make docs."""

import hashlib
import logging
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert

import dpgp
import dpgp_experiments

project = "dpgp"
version = release = dpgp.__version__
html_title = f"dpgp {version}"
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_copyright = html_show_sphinx = False
html_copy_source = html_show_sourcelink = False
html_math_renderer = "mathml"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["_build", "_ipython"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False

# Examples run in folders of their own, and again whenever a package that they use has changed.
PACKAGES = [Path(package.__file__).parent for package in (dpgp, dpgp_experiments)]
FILES = [path for package in PACKAGES for path in sorted(package.rglob("*.*"))]
SOURCES = [path for path in FILES if path.is_file() and path.suffix != ".pyc"]
DIGEST = hashlib.sha256(b"".join(p.read_bytes() for p in SOURCES)).hexdigest()
nb_execution_mode = "cache"
nb_execution_cache_path = str(Path(__file__).parent / "_build" / "examples" / DIGEST[:16])
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 120
nb_merge_streams = True
logging.getLogger("traitlets").setLevel(logging.WARNING)

# Cells find this environment's commands, and nothing of the user's own IPython.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
IPYTHON = tempfile.TemporaryDirectory()
shutil.copytree(Path(__file__).parent / "_ipython", IPYTHON.name, dirs_exist_ok=True)
os.environ["IPYTHONDIR"] = IPYTHON.name


def show_inline(translator, node):
    """Write a formula as MathML, which browsers draw without scripts or network."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def show_block(translator, node):
    """Write a displayed formula as MathML."""
    formula = convert(node.astext(), display="block")
    translator.body.append(f'<div class="math">{formula}</div>')
    raise nodes.SkipNode


def link_documents(app, what, name, obj, options, lines):
    """Turn the "docs/method.md" of a docstring into a link, so that a wrong one is a warning."""
    lines[:] = [re.sub(r"docs/([\w/-]+)\.md", r":doc:`/\1`", line) for line in lines]


def setup(app):
    """Register what is above."""
    app.add_html_math_renderer("mathml", (show_inline, None), (show_block, None))
    app.connect("autodoc-process-docstring", link_documents)
