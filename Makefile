# The two commands of the README are `make demo` and `make test`. Each makes .venv where it is missing or stale.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
RUN_STAMP := $(VENV)/.run-stamp
DEV_STAMP := $(VENV)/.dev-stamp
LOCKED := --require-hashes -r
UV_COMPILE := uv pip compile pyproject.toml --universal --generate-hashes --no-emit-index-url \
	--no-annotate --no-header --python-version 3.11 --quiet

.PHONY: demo test slow check format docs lock wheel perf clean

demo: $(RUN_STAMP)  ## a full study, offline: real and rendered videos, two arms, two executions, verdicts, report
	$(BIN)/taketwo demo

test: $(DEV_STAMP)  ## all tests but the slow ones, with coverage
	rm -f .coverage .coverage.*
	$(BIN)/python -m pytest -n 2 --dist loadfile --cov --cov-report=term --cov-fail-under=90

slow: $(DEV_STAMP)  ## calibration, kill -9 and the 30-minute video
	$(BIN)/python -m pytest -m slow --timeout 3600

check: $(DEV_STAMP)  ## format, lint, types, import contracts, documents up to date
	$(BIN)/ruff format --check src tests perf docs
	$(BIN)/ruff check src tests perf docs
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python docs/make_reference.py --check

format: $(DEV_STAMP)
	$(BIN)/ruff format src tests perf docs
	$(BIN)/ruff check --fix src tests perf docs

docs: $(DEV_STAMP)  ## write docs/reference anew
	$(BIN)/python docs/make_reference.py

perf: $(DEV_STAMP)  ## speed, as ratios against named peers in the same run
	$(BIN)/python perf/frames.py
	$(BIN)/python perf/engine.py
	$(BIN)/python perf/intervals.py

wheel: $(DEV_STAMP)
	$(BIN)/python -m hatchling build --target wheel

# A stamp is made last, so an install that was interrupted starts again; an environment whose
# interpreter is gone is made anew.
$(RUN_STAMP): requirements/run.lock pyproject.toml
	@$(BIN)/python -c "" 2>/dev/null || { rm -rf $(VENV); $(PYTHON) -m venv $(VENV); }
	$(PIP) $(LOCKED) requirements/run.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV_STAMP): requirements/dev.lock requirements/llama.lock $(RUN_STAMP)
	$(PIP) $(LOCKED) requirements/dev.lock
	$(PIP) --no-deps $(LOCKED) requirements/llama.lock
	@touch $@

lock:  ## resolve the lock files anew (needs uv)
	$(UV_COMPILE) --extra offline --group build --output-file requirements/run.lock
	$(UV_COMPILE) --extra perf --group build --constraint requirements/run.lock --output-file requirements/dev.lock
	$(UV_COMPILE) --group light --group build --constraint requirements/run.lock --output-file requirements/light.lock
	uv pip compile requirements/llama.in --no-deps --generate-hashes --no-emit-index-url --no-annotate \
		--no-header --quiet --output-file requirements/llama.lock

clean:
	rm -rf $(VENV) build dist demo .coverage .coverage.*
