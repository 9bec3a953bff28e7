# Everything from a bare machine with python3 and make. `PYTHON=python3.13 make test` picks another interpreter;
# `make test ARGS="-k logsumexp -x"` hands arguments to pytest, and likewise for the other commands.

PYTHON ?= python3
ARGS ?=

python_version := $(shell $(PYTHON) -c 'import platform; print(platform.python_version())' 2>/dev/null)

# A second call installs nothing: a stamp file in the environment says what it holds. The first stamp carries the
# interpreter's version, so another PYTHON makes the environment anew.
created := .created-$(or $(python_version),without-python)
dev := .venv/.installed-dev
demo := .venv/.installed-demo
test := .venv/.installed-test
docs := .venv/.installed-docs
# PyTensor holds Numba back. With an environment of their own, the benchmarks cannot change what the tests run on.
bench := .venv-bench/.installed-bench
# PyMC does, too. Python 3.11 has PyMC 5, newer ones have PyMC 6: each has an environment, and neither unmakes the other.
pymc := $(if $(filter 3.11.%,$(python_version)),.venv-pymc,.venv-pymc6)
test_pymc := $(pymc)/.installed-test-pymc
demo_pymc := $(pymc)/.installed-demo-pymc
bench_pymc := $(pymc)/.installed-bench-pymc
# The newest NumPy and JAX have other types than those of Python 3.11. pyright takes an environment by the folder around it.
newer := .venv-newer/.venv
newer_dev := $(newer)/.installed-dev
newer_test := $(newer)/.installed-test

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Two installations into one environment at once would trip over each other.
.NOTPARALLEL:
.PHONY: help demo demo-pymc test test-quick test-all test-pymc test-jax test-arm test-candidates nightly lint lint-newer format docs bench bench-pymc clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

demo: $(demo)  ## fit a logistic regression on real data, with times
	.venv/bin/python examples/logistic_regression.py $(ARGS)

demo-pymc: export OMP_NUM_THREADS = 1
demo-pymc: $(demo_pymc)  ## sample PyMC models on real data, with times and plots
	$(pymc)/bin/python examples/pymc_models $(ARGS)

# The tests run side by side already: a BLAS with threads of its own would only fight over the cores.
test test-quick test-all test-pymc test-jax test-candidates nightly: export OMP_NUM_THREADS = 1
test test-quick test-all test-pymc test-jax test-candidates nightly: export OPENBLAS_NUM_THREADS = 1
pytest := .venv/bin/python -m pytest -n auto

test: $(test)  ## the test suite, on all cores: about 10 minutes on two
	@echo 'This takes about 10 minutes on two quiet cores; `make test-quick` takes a part of it.'
	$(pytest) $(ARGS)

test-quick: $(test)  ## every op once, and the interface: about 1 minute on two cores
	@echo 'This takes about one minute on two quiet cores.'
	$(pytest) --extent=quick $(ARGS)

test-all: $(test)  ## the suite with every dtype and layout of every op: about 25 minutes on two cores
	@echo 'This takes about 25 minutes on two quiet cores; `make test` takes a part of it.'
	$(pytest) --extent=all $(ARGS)

test-pymc: $(test_pymc)  ## the tests of the PyMC bridge: about 3 minutes on two cores
	@echo 'This takes about 3 minutes on two quiet cores.'
	$(pymc)/bin/python -m pytest -n auto --extent=all tests/pymc_bridge $(ARGS)

# Python 3.11 has JAX 0.10 at most. In the environment of PyMC 6 the bridge meets the newest JAX.
test-jax: $(test_pymc)  ## the tests of the JAX bridge beside PyMC: about 3 minutes on two cores
	@echo 'This takes about 3 minutes on two quiet cores.'
	$(pymc)/bin/python -m pytest -n auto --extent=all tests/jax_bridge $(ARGS)

test-arm: $(test)  ## the suite's core as ARM's code, by qemu: about 40 minutes on two cores
	@echo 'This takes about 40 minutes on two quiet cores, and fetches 300 MB the first time.'
	PYTHON=.venv/bin/python .ci/arm $(ARGS)

test-candidates:  ## the tests of both bridges on release candidates of PyMC, PyTensor, JAX, Numba and NumPy
	PYTHON=$(PYTHON) .ci/candidates $(ARGS)

# Other programs each night: Hypothesis draws them by chance, and prints how to have one again.
nightly: export HYPOTHESIS_PROFILE = thorough
nightly: $(test) $(test_pymc)  ## all that repeats other tests, and random programs, 1500 of each kind: hours
	@echo 'This takes hours.'
	HYPOTHESIS_PROFILE=numbagraph $(pytest) --extent=all
	HYPOTHESIS_PROFILE=numbagraph $(pymc)/bin/python -m pytest -n auto --extent=all tests/pymc_bridge
	$(pytest) --timeout=0 tests/package/test_random_graphs.py $(ARGS)
	.venv/bin/python -m pip install --quiet 'blackjax>=1.2'
	.venv/bin/python -m pytest tests/jax_bridge/test_samplers.py
	$(pymc)/bin/python -m pip install --quiet pymc-extras
	$(pymc)/bin/python -m pytest tests/pymc_bridge/test_extras.py
	PYTHON=$(PYTHON) .ci/wheel
	.venv/bin/python -m tests.fuzz statements --minutes 60
	.venv/bin/python -m tests.fuzz gradients --minutes 60
	.venv/bin/python -m tests.fuzz nests --minutes 60
	.venv/bin/python -m tests.fuzz late_loops --minutes 60
	.venv/bin/python -m tests.fuzz sequences --minutes 60
	.venv/bin/python -m tests.fuzz storage --minutes 60
	.venv/bin/python -m tests.fuzz choices --minutes 60
	.venv/bin/python -m tests.fuzz compositions --minutes 60
	$(pymc)/bin/python -m tests.fuzz pytensor_graphs --minutes 60
	$(pymc)/bin/python -m tests.fuzz models --minutes 60
	HYPOTHESIS_PROFILE=numbagraph PYTHON=.venv/bin/python .ci/arm
	.ci/lint
	PYTHON=$(PYTHON) .ci/candidates

# pyright needs to see what the sources import, JAX included: that is what the tests install.
# Without the variable it asks the network at each run whether there is a newer version of it.
lint: export PYRIGHT_PYTHON_IGNORE_WARNINGS = 1
lint: $(dev) $(test)  ## ruff, formatting, import layers, types
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/python tools/check_layers.py
	.venv/bin/pyright

lint-newer: export PYRIGHT_PYTHON_IGNORE_WARNINGS = 1
lint-newer: $(newer_dev) $(newer_test)  ## types and stubs with a newer Python: `make lint-newer PYTHON=python3.13`
	$(newer)/bin/pyright --venvpath $(dir $(newer)) --pythonversion $(basename $(python_version))
	$(newer)/bin/python -m pytest tests/typing

format: $(dev)  ## mend what ruff can mend
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

# The pages' own examples are run by the tests; this runs the gallery.
docs: $(docs)  ## the documentation, in docs/_build/html; warnings are errors
	.venv/bin/python -m sphinx --builder html --fail-on-warning --keep-going $(ARGS) docs docs/_build/html

bench: $(bench)  ## compare with NumPy, Numba, numexpr, JAX and PyTensor
	.venv-bench/bin/python -m asv_benchmarks.compare $(ARGS)

bench-pymc: $(bench_pymc)  ## compile and sample PyMC models beside nutpie's own backends
	$(pymc)/bin/python -m asv_benchmarks.compare --workloads pymc $(ARGS)

clean:  ## remove the environments and what tools left behind
	rm -rf .venv .venv-bench .venv-pymc .venv-pymc6 .venv-newer .venv-candidates .arm .asv build dist docs/_build docs/images/gallery .hypothesis .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/$(created) .venv-bench/$(created) $(pymc)/$(created) $(newer)/$(created):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo 'numbagraph needs Python 3.11 or newer: name one, as in `PYTHON=python3.13 make test`' >&2; exit 1; }
	rm -rf $(@D)
	$(PYTHON) -m venv $(@D)
	touch $@

$(dev) $(demo) $(test) $(docs): .venv/$(created)
$(bench): .venv-bench/$(created)
$(newer_dev) $(newer_test): $(newer)/$(created)
$(test_pymc) $(demo_pymc) $(bench_pymc): $(pymc)/$(created)
$(dev) $(demo) $(test) $(docs) $(bench) $(test_pymc) $(demo_pymc) $(bench_pymc) $(newer_dev) $(newer_test): pyproject.toml
	@echo 'Installing numbagraph with its extra `$(subst .installed-,,$(@F))`'
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[$(subst .installed-,,$(@F))]'
	touch $@
