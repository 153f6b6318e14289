# make demo   install into .venv and try everything on the sample folder
# make test   lint, types and tests
# make docs   the generated pages, the outputs that the README and the guides show, the picture
# make bench  the measurements (BENCH=name for one of them)
# make fuzz   random requests and examples from a new seed (FUZZ_SECONDS, FUZZ_SEED)
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint types unit fuzz bench docs clean install

demo: install
	@sh examples/demo.sh $(BIN)

test: lint types unit

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

unit: install
	$(BIN)/pytest -n auto --dist worksteal

FUZZ_SECONDS ?= 300
fuzz: install
	@seed=$${FUZZ_SEED:-$$($(BIN)/python -c 'import secrets; print(secrets.randbits(32))')}; \
	echo "FUZZ_SEED=$$seed"; \
	FUZZ_SEED=$$seed FUZZ_SECONDS=$(FUZZ_SECONDS) HYPOTHESIS_PROFILE=fuzz \
	  $(BIN)/pytest -n auto -o timeout=0 --hypothesis-seed=$$seed $$(grep -lE '^from hypothesis|FUZZ_SEED' -r tests --include='test_*.py')

bench: install
	$(BIN)/python -m bench $(BENCH)

docs: install
	$(BIN)/python -m tools.reference
	$(BIN)/python -m tools.outputs
	$(BIN)/python -m tools.picture

install: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Smart Context needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group dev
	@touch $(STAMP)

clean:
	rm -rf $(VENV) .demo dist build .mypy_cache .ruff_cache .hypothesis
