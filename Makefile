# `make demo` shows it working, `make test` is what every change must pass. Both install first.
SHELL := /bin/bash
PY := .venv/bin/python
INSTALLED := .venv/.installed
SUITES := $(PY) -m pytest -q -n 2

export OMP_WAIT_POLICY := passive

.PHONY: install demo test lint check bench soak cuda clean
.DEFAULT_GOAL := install

install: $(INSTALLED)

# The manifests are among the reasons to install again: they say which model files belong here.
$(INSTALLED): .ci/install pyproject.toml requirements.lock $(wildcard models/mindscape_models/catalogue/*/manifest.toml)
	@.ci/install
	@touch $@

demo: install  ## the main job on real files: watch, index, search, ask, edit, ask again
	@$(PY) -m tests.demo

lint: install  ## format, style, types, and the arrows between packages
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	.venv/bin/basedpyright
	.venv/bin/lint-imports

test: lint  ## all but the slow suites
	$(SUITES) -m "not slow"

check: test  ## everything
	$(SUITES) -m slow

bench: install  ## the table in the README
	@$(PY) -m tests.benchmarks

SOAK_MINUTES ?= 30
soak: install  ## a daemon that is changed and killed at random, beside fresh builds; SOAK_MINUTES=, 30 by default
	@$(PY) -m tests.soak --minutes $(SOAK_MINUTES)

cuda: install  ## build llama.cpp for the GPU and install the CUDA libraries
	@.ci/install cuda

clean:  ## the build, not the user's cache of wheels and models
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find assistant models storage tests -name __pycache__ -prune -exec rm -rf {} +
