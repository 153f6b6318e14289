# `make help` lists what can be made. Everything is installed into .venv, from the hashed versions of requirements/ci.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
COMPILED := $(VENV)/.compiled
LOCK := requirements/ci.txt
UV ?= $(BIN)/uv
# Two more than there are processors: some tests wait for a clock, a socket or a disk.
WORKERS ?= $$($(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 2)')
PYTEST := pytest -n $(WORKERS) --dist worksteal
# What is compiled once need not be compiled again by each of the thousands of processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test lint types unit coverage lowest newest mutation fuzz sanitize bench browser pictures docs site lock clean install

help: ## list these
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/\1\t\2/' | expand -t 10

demo: install ## install, and try everything on the sample folder
	@sh examples/demo.sh $(BIN)

test: lint ## lint, types and tests with their coverage: what decides whether a change lands
	$(MAKE) --jobs=2 types coverage REPORT=--format=total

lint: install ## the linter and the formatter's check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install ## the type checker
	$(BIN)/mypy

unit: install ## the tests alone
	$(BIN)/$(PYTEST)

REPORT ?= --skip-covered --sort=cover
coverage: install ## the tests, and which lines and branches they reach; fewer than before is a failure
	$(BIN)/coverage erase
	COVERAGE_PROCESS_START=$(CURDIR)/pyproject.toml $(BIN)/$(PYTEST)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report $(REPORT)

lowest: ## the tests on the lowest versions that pyproject.toml allows
	$(MAKE) other-versions OTHER=.venv-lowest RESOLUTION=lowest-direct

newest: ## the tests on the newest versions there are
	$(MAKE) other-versions OTHER=.venv-newest RESOLUTION=highest

.PHONY: other-versions
other-versions:
	$(PYTHON) -m venv $(OTHER)
	$(OTHER)/bin/python -m pip install --quiet uv
	$(OTHER)/bin/uv pip install --quiet --upgrade --resolution $(RESOLUTION) --python $(OTHER)/bin/python --editable ".[all]" --group dev
	$(OTHER)/bin/$(PYTEST)

MUTANTS ?= 75
SEED ?= 1
AGAIN ?=
mutation: ## small changes of find, redact, cache and access: which do the tests not notice? (MUTANTS a room)
	$(PYTHON) -m venv .venv-mutation
	.venv-mutation/bin/python -m pip install --quiet uv
	.venv-mutation/bin/uv pip install --quiet --python .venv-mutation/bin/python --editable ".[all]" --group dev --group mutation
	nice -n 19 .venv-mutation/bin/python -m tools.mutation --each $(MUTANTS) --seed $(SEED) $(AGAIN)

FUZZ_SECONDS ?= 300
fuzz: install ## random requests and examples from a new seed (FUZZ_SECONDS, FUZZ_SEED)
	@seed=$${FUZZ_SEED:-$$($(BIN)/python -c 'import secrets; print(secrets.randbits(32))')}; \
	echo "FUZZ_SEED=$$seed"; \
	FUZZ_SEED=$$seed FUZZ_SECONDS=$(FUZZ_SECONDS) HYPOTHESIS_PROFILE=fuzz \
	  $(BIN)/pytest -n auto -o timeout=0 --hypothesis-seed=$$seed $$(grep -lE '^from hypothesis|FUZZ_SEED' -r tests --include='test_*.py')

sanitize: install ## what is written in C, watched for reads and writes beyond its memory while its tests run; in a copy
	@copy=$$(mktemp -d) && trap 'rm -rf "$$copy"' EXIT && bin=$(CURDIR)/$(BIN) && workers=$(WORKERS) && \
	git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- --create | tar --extract --directory="$$copy" && \
	cd "$$copy" && CFLAGS="-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined" "$$bin/python" -m tools.compiled && \
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
	  PYTHONPATH="$$copy/src" "$$bin/pytest" -n $$workers $$(grep -lE '^from compiled import' -r tests --include='test_*.py')

bench: install ## the measurements (BENCH=name for one of them)
	$(BIN)/python -m bench $(BENCH)

AXE := .browser/axe-core/axe.min.js
browser: ## Chromium (Debian's, as root) and axe-core, with which the page is tested
	@test -x /usr/bin/chromium || apt-get install --yes --quiet --no-install-recommends chromium
	@test -e $(AXE) || { mkdir -p .browser/axe-core && cd .browser && npm pack --silent axe-core@4 && \
	  tar -xzf axe-core-*.tgz --strip-components=1 -C axe-core package/axe.min.js package/LICENSE; }

pictures: install ## the pictures of the page
	$(BIN)/python -m tools.screenshots

docs: install ## the generated pages, the manual pages, the outputs that pages show, the picture
	$(BIN)/python -m tools.reference
	$(BIN)/python -m tools.manpages
	$(BIN)/python -m tools.outputs
	$(BIN)/python -m tools.picture

site: install ## the documentation as a site, in site/
	$(BIN)/mkdocs build --strict --quiet

lock: ## renew requirements/ after a change of the dependencies (UV=uv where it is installed)
	@test -x $(UV) || command -v $(UV) >/dev/null || { $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet uv; }
	$(UV) pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url --no-emit-find-links --extra all --group dev pyproject.toml --output-file $(LOCK)
	echo uv | $(UV) pip compile --quiet --upgrade --universal --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url --no-emit-find-links - --output-file requirements/uv.txt

install: $(STAMP) $(COMPILED)

$(STAMP): pyproject.toml $(LOCK)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Smart Context needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@# uv takes a quarter of the time; where only pip was told from where to install, pip does it.
	{ $(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/uv.txt && \
	  $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --requirement $(LOCK); } || \
	  $(BIN)/python -m pip install --quiet --require-hashes --requirement $(LOCK)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(STAMP) $(COMPILED)

$(COMPILED): $(STAMP) tools/compiled.py $(shell find src -name '_*.[ch]')
	$(BIN)/python -m tools.compiled
	@touch $(COMPILED)

clean: ## remove what was made
	rm -rf $(VENV) .venv-lowest .venv-newest .venv-mutation .mutation .demo dist build site .coverage* .mypy_cache .ruff_cache .hypothesis
