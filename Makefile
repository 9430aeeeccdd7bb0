# Two commands: `make run` and `make test`. Both set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
ADDRESS ?= 127.0.0.1

.PHONY: run test check unit browser lock clean bench

run: $(VENV)/.runtime
	@echo "GPU Explain: http://$(ADDRESS):$(PORT)"
	$(BIN)/streamlit run app.py --server.address $(ADDRESS) --server.port $(PORT) --server.headless true

# Lint, types and import rules, then all tests (unit, pages, real browser).
test: $(VENV)/.dev chromium nginx
	@$(MAKE) --no-print-directory check
	$(BIN)/python -m pytest

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check --output-format concise .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(VENV)/.dev
	$(BIN)/python -m pytest -m "not browser"

browser: $(VENV)/.dev chromium nginx
	$(BIN)/python -m pytest -m browser

bench: $(VENV)/.dev chromium
	$(BIN)/python -m benchmarks

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "GPU Explain needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.runtime: requirements.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -r requirements-dev.txt
	@touch $@ $(VENV)/.runtime

# The browser tests need a Chromium: the one named by CHROMIUM, one on the PATH, or Debian's package.
.PHONY: chromium
chromium:
	@./scripts/find-chromium

# The proxy example is tested with a real nginx.
.PHONY: nginx
nginx:
	@./scripts/find-nginx

# Versions are locked, transitive ones too. torch keeps an installed CPU build of the same version.
lock: $(VENV)/.dev
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-emit-index-url \
		--custom-compile-command "make lock" pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-emit-index-url \
		--custom-compile-command "make lock" --extra auth -c requirements.txt pyproject.toml -o requirements-auth.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-emit-index-url \
		--custom-compile-command "make lock" --group dev -c requirements.txt pyproject.toml -o requirements-dev.txt

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
