# Every target creates .venv if it is missing; needs Python 3.11+, git and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
CONSTRAINTS ?= --constraint constraints.txt
SOURCES := pyproject.toml constraints.txt README.md $(shell find src -type f -not -name '*.pyc')
FAST := not slow and not external and not baselines and not browser
# neighbours in a file stay with one worker, and share what they fit
WORKERS := -n auto --dist worksteal
LABORATORY := $(shell find experiments -type f -not -name '*.pyc' -not -path 'experiments/tests/*')
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/pip install -qq $(CONSTRAINTS)

.DEFAULT_GOAL := help
.PHONY: help install demo experiments test test-slow test-oldest package lint coverage mutants figures docs bench clean

help:
	@echo "make demo         fit a private model of real data; leaves a model, a figure and a report in demo/"
	@echo "make test         install what the tests need, check the code, run the tests"
	@echo "make test-slow    long statistical tests, networks, report and studio in Chromium, agreement with GPflow and GPyTorch,"
	@echo "                  and all tests with the BLAS kernels of another processor"
	@echo "make test-oldest  the tests with the oldest versions that pyproject.toml allows"
	@echo "make package      build wheel and sdist in dist/; install each into an empty environment, and try it"
	@echo "make experiments  install what \`dpgp reproduce\` needs, into .venv"
	@echo "make lint         ruff, mypy and import-linter alone"
	@echo "make coverage     which lines and branches the tests run, by package"
	@echo "make mutants      break dpgp.privacy and dpgp.private in one place at a time; what no test notices"
	@echo "make figures      the pictures of README and docs that need no data but what packages bring"
	@echo "make bench        a pass over the rows against the machine's own limit, whole fits against scikit-learn, GPflow,"
	@echo "                  GPyTorch and the reading of the table; growth with rows, features and inputs; one and two workers"
	@echo "make docs         build the documentation site, running every example in it"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("dpgp needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: $(BIN)/python $(SOURCES)
	@$(PIP) '.[demo]'
	@touch $@

$(VENV)/experiments.stamp: $(BIN)/python $(SOURCES) $(LABORATORY)
	@$(PIP) . ./experiments
	@touch $@

$(VENV)/test.stamp: $(BIN)/python $(SOURCES) $(LABORATORY)
	@$(PIP) '.[test]' ./experiments
	@touch $@

install: $(VENV)/demo.stamp

demo: $(VENV)/demo.stamp
	@$(BIN)/dpgp demo --output demo

experiments: $(VENV)/experiments.stamp
	@echo "installed: $(BIN)/dpgp reproduce --help"

lint: $(VENV)/test.stamp
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports > $(VENV)/lint-imports.log || { cat $(VENV)/lint-imports.log; exit 1; }

test: lint
	@OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -m "$(FAST)" $(WORKERS)

coverage: $(VENV)/test.stamp
	@$(PIP) 'coverage>=7.10'
	@OPENBLAS_NUM_THREADS=1 $(BIN)/coverage run -m pytest -m "$(FAST)" $(WORKERS) $(COVERED_BY)
	@$(BIN)/coverage combine -q
	@$(BIN)/python tests/coverage_by_package.py

MUTANTS ?= $(patsubst src/dpgp/%.py,%,$(filter-out %/__init__.py,$(wildcard src/dpgp/privacy/*.py src/dpgp/private/*.py)))
mutants: $(VENV)/test.stamp
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/mutants.py $(MUTANTS)

FIGURES := illustration calibration hyperparameters successor
figures: $(VENV)/experiments.stamp demo
	@cp demo/figure.png docs/figures/demo.png
	@for name in $(FIGURES); do $(BIN)/dpgp reproduce $$name --output results && cp results/$$name.png docs/figures/ || exit 1; done
	@$(BIN)/python benchmarks/scaling.py

# GPflow and GPyTorch contradict each other and us: each has an environment of its own
.venv-%/.stamp: tests/agreement/requirements-%.txt
	@rm -rf .venv-$*
	@$(PYTHON) -m venv .venv-$*
	@.venv-$*/bin/pip install -qq -r $<
	@touch $@

$(VENV)/slow.stamp: $(VENV)/test.stamp
	@$(PIP) '.[spark]' './experiments[baselines]' 'playwright>=1.50' 'axe-playwright-python>=0.1.4' 'atheris>=3.0'
	@touch $@

test-slow: $(VENV)/slow.stamp .venv-gpflow/.stamp .venv-gpytorch/.stamp
	@OPENBLAS_NUM_THREADS=1 DPGP_REQUIRE_EXTERNAL=1 $(BIN)/pytest -m "slow or external or baselines or browser" $(WORKERS)
	@OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=Sandybridge $(BIN)/pytest -m "$(FAST)" $(WORKERS)

.venv-oldest/.stamp: tests/oldest.txt pyproject.toml
	@rm -rf .venv-oldest
	@$(PYTHON) -m venv .venv-oldest
	@PIP_DISABLE_PIP_VERSION_CHECK=1 .venv-oldest/bin/pip install -qq -r $< . ./experiments
	@touch $@

test-oldest: .venv-oldest/.stamp
	@OPENBLAS_NUM_THREADS=1 PYTHONPATH=src:experiments/src .venv-oldest/bin/python -m pytest -m "$(FAST)" $(WORKERS) --ignore tests/test_docs.py

package: $(BIN)/python
	@$(PIP) build
	@rm -rf dist && $(BIN)/python -m build --outdir dist . > /dev/null
	@for file in dist/*; do rm -rf .venv-package && $(PYTHON) -m venv .venv-package && \
	    .venv-package/bin/pip install -qq --constraint constraints.txt "$$file" && \
	    PATH=$(CURDIR)/.venv-package/bin:$$PATH sh tests/package_smoke.sh && echo "$$file works" || exit 1; done

$(VENV)/docs.stamp: $(BIN)/python $(SOURCES) $(LABORATORY)
	@$(PIP) '.[docs]' ./experiments
	@touch $@

docs: $(VENV)/docs.stamp
	@$(BIN)/python docs/check_links.py
	@OPENBLAS_NUM_THREADS=1 $(BIN)/sphinx-build -E -W --keep-going -q docs docs/_build/html
	@echo "the site is built: open docs/_build/html/index.html"

bench: $(VENV)/test.stamp .venv-gpflow/.stamp .venv-gpytorch/.stamp
	@$(BIN)/python benchmarks/hot_path.py
	@$(BIN)/python benchmarks/passes.py
	@$(BIN)/python benchmarks/fit_time.py
	@$(BIN)/python benchmarks/whole_jobs.py
	@$(BIN)/python benchmarks/peers.py
	@$(BIN)/python benchmarks/scaling.py
	@$(BIN)/python benchmarks/workers.py

clean:
	@rm -rf $(VENV) .venv-package dist .venv-gpflow .venv-gpytorch .venv-oldest demo results docs/_build
