# Every target makes its own virtual environment from wheels when there is none: no compiler, no GL, no apt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS ?= 2

.PHONY: demo test test-slow bench lint clean

$(READY): requirements.lock pyproject.toml
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@echo "installing Portico and its dependencies from wheels ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $(READY)

demo: $(READY)  ## a town block, seven tasks, four policies, a table and a report
	@$(BIN)/portico warmup
	@$(BIN)/portico demo --out demo --workers $(WORKERS)

test: $(READY)  ## the default test suite
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

test-slow: $(READY)  ## what `make test` leaves out
	@$(BIN)/python -m pytest -n $(WORKERS) -m slow

bench: $(READY)  ## speed, side by side with what you would use instead
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -r requirements-bench.lock || echo "some peers could not be installed; their rows are skipped"
	@for file in rendering queries geodesics building splats captures importing experts physics locomotion wires agent aerial runs viewer; do $(BIN)/python benchmarks/$$file.py || exit 1; done

lint: $(READY)  ## format, style, types and the import contract
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

clean:  ## remove what the targets above made
	rm -rf $(VENV) demo
