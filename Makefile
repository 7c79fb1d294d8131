# `make demo` and `make test` need nothing but Python 3.11 or newer; everything else is set up here.

PYTHON ?= $(shell .ci/python)
VENV   ?= .venv
BIN    := $(VENV)/bin
# Workers for pytest-xdist, one more than there are cores, since many tests wait for a process or the disk; `make test WORKERS=0` runs in one process.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
# Real clients wait, too: with a worker a core, a third of the time was nobody's.
E2E_WORKERS ?= $(WORKERS)
# Trainers have an environment of their own.  Name a build of torch for the CPU: on Linux the usual one brings gigabytes for cards.
LEARN  ?= .cache/learn
TORCH  ?= torch==2.13.0
PYTEST_ARGS ?=
DEMO   := build/demo-vault
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: help demo test test-all e2e learn-e2e coverage lint format types bench real recall-eval soak kills mutants prices docs docs-check site build package clean

help: ## Show what there is to make
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

# The stamps make pip run again only when pyproject.toml changed.
$(VENV)/.made:
	@test -n "$(PYTHON)" || exit 1
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml
	$(PIP) -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.made pyproject.toml
	$(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.installed

# Sessions are named after the day on which they began.
demo: export TZ = UTC
demo: $(VENV)/.installed ## Import a real transcript into a copy of the example vault, then list, show and search it
	@rm -rf $(DEMO) && mkdir -p build && cp -R vault-example $(DEMO)
	@rm $(DEMO)/sessions/*rate-limiter*  # the demo imports these itself
	$(BIN)/cru --vault $(DEMO) import claude-code tests/data/transcripts/claude-code
	$(BIN)/cru --vault $(DEMO) session list
	$(BIN)/cru --vault $(DEMO) session show 2026-11-21-add
	$(BIN)/cru --vault $(DEMO) recall must the retry wait never be zero --limit 1 --context 1
	@echo
	@echo "The vault is $(DEMO). Open that folder in Obsidian, or try: cd $(DEMO) && $(CURDIR)/$(BIN)/cru"

# Bytecode is kept, whatever the caller thinks of it: each of the many processes that tests start would compile the same modules again.
test coverage e2e: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/.installed-dev ## Run all tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

test-all: ## Run all tests with every Python of 3.11, 3.12 and 3.13 that is found
	@for version in 3.11 3.12 3.13; do \
	    if python=$$(.ci/python $$version); then \
	        echo "== Python $$version ($$python)"; \
	        $(MAKE) --no-print-directory test PYTHON="$$python" VENV=.cache/venv-$$version || exit 1; \
	    else echo "== Python $$version: not found, skipped"; fi; \
	done

# The clients come by npm into .cache/clients, or CRUCIBLE_CLIENTS_CACHE; `-rs` prints why there are none.
e2e: $(VENV)/.installed-dev ## Let the real Claude Code, Codex and OpenCode play and compare their notes with what was played; open every page of `cru web` in Chromium; work on a Dask cluster, and ask ClickHouse's engine
	$(BIN)/python -m pytest -n $(E2E_WORKERS) --dist worksteal -m e2e -rs $(PYTEST_ARGS) tests/clients tests/browser tests/cluster tests/unit/search

$(LEARN)/.installed: pyproject.toml
	@mkdir -p $(dir $(LEARN))
	test -x $(LEARN)/bin/python || $(PYTHON) -m venv $(LEARN)
	$(LEARN)/bin/python -m pip --disable-pip-version-check install --quiet '$(TORCH)'
	$(LEARN)/bin/python -m pip --disable-pip-version-check install --quiet -e '.[learn]' pytest hypothesis
	@touch $@

learn-e2e: $(LEARN)/.installed ## Load every exported shape and train a LoRA step on it, with the real trainers on the CPU
	$(LEARN)/bin/python -m pytest -s -m learn -rs $(PYTEST_ARGS) tests/trainers

coverage: $(VENV)/.installed-dev ## Measure line coverage; what reads and writes notes stands at 95 % or more
	$(BIN)/python -m pytest -n $(WORKERS) --cov --cov-report= $(PYTEST_ARGS)
	$(BIN)/coverage report
	@for package in documents vault clients; do \
	    printf '%-11s' $$package; $(BIN)/coverage report --include="crucible/$$package/*" --format=total --fail-under=95 || exit 1; \
	done

lint: $(VENV)/.installed-dev docs-check ## Check style and layout
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/codespell

format: $(VENV)/.installed-dev ## Put the code in its format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.installed-dev ## Check types, also as on Windows
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --no-warn-unreachable --cache-dir .mypy_cache/win32 crucible

bench: $(VENV)/.installed-dev ## Measure starting, reading, importing, memory, queries, hooks and workflows against their bars (BENCH=workflows, REAL=FOLDER of transcripts), and run the tests that look at a clock
	REAL="$(REAL)" $(BIN)/python -m benchmarks.run $(BENCH)
	$(BIN)/python -m pytest -q -m "timed or not timed" benchmarks
	$(BIN)/python -m pytest -q -m timed $(PYTEST_ARGS)

real: $(VENV)/.installed-dev ## What is found in real sessions, by pattern (REAL=FOLDER; LABELS and SCORER measure it, READ=PATTERN shows fifty)
	$(BIN)/python -m benchmarks.real_sessions
	REAL="$(REAL)" $(BIN)/python -m pytest -q -n 0 tests/test_consistent_findings.py

recall-eval: $(VENV)/.installed-dev ## Measure how well recall answers the questions of samples/recall_eval (RECALL_EVAL=--misses shows where it fails; REAL=FOLDER asks about real sessions, too, and RECALL_EVAL=--rivals other searches; LOCOMO=FILE asks about LoCoMo's chats)
	$(BIN)/python -m samples.recall_eval.report $(filter-out --rivals,$(RECALL_EVAL))
	$(if $(REAL),$(BIN)/python -m benchmarks.recall_real "$(REAL)" $(RECALL_EVAL))
	$(if $(LOCOMO),$(BIN)/python -m benchmarks.recall_locomo "$(LOCOMO)" $(filter-out --misses --rivals,$(RECALL_EVAL)))

soak: $(VENV)/.installed-dev ## Read many random documents and sessions, codify some, then the property tests, SOAK_SECONDS each (10); kill commands at each of their steps
	$(BIN)/python -m benchmarks.soak
	HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest -n $(WORKERS) -m 'hypothesis and not slow' -p benchmarks.bounded $(PYTEST_ARGS)
	HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest -n $(WORKERS) -m 'not hypothesis' -k kill $(PYTEST_ARGS) tests/unit

kills: $(VENV)/.installed-dev ## Kill hooks, clients and what is behind them KILLS times (500), and a watcher of all clients 100 times, and look for lost rows
	$(BIN)/python -m tests.clients.kills $(KILLS)

mutants: $(VENV)/.installed-dev ## Mutate note/ and session/ and see which mutants the tests kill (an hour; MUTANTS='crucible.documents.markdown.*')
	HYPOTHESIS_PROFILE=mutants $(BIN)/mutmut run $(MUTANTS)
	@$(BIN)/mutmut results --all true | sort | awk -F': ' '$$2 && $$2 != "not checked" { split($$1, part, "."); \
	    file = part[2] "/" part[3]; if (!(file in all)) order[++files] = file; \
	    all[file]++; n[file, $$2]++; total++; ends[$$2]++ } \
	    END { for (i = 1; i <= files; i++) { f = order[i]; printf "%-28s %4d of %4d killed, %d timed out\n", f, \
	        n[f, "killed"], all[f], n[f, "timeout"] } \
	    for (end in ends) printf "%s %d, ", end, ends[end]; printf "all %d: %.1f %% killed, %.1f %% with timeouts\n", \
	        total, 100 * ends["killed"] / total, 100 * (ends["killed"] + ends["timeout"]) / total }'

# Before it, name the newest release of genai-prices in pyproject.toml.
prices: $(VENV)/.installed-dev ## Write crucible/core/prices/prices.json from the data of genai-prices
	$(BIN)/python docs/prices.py

docs: $(VENV)/.installed-dev ## Write docs/cli.md from the commands' own help
	$(BIN)/python -m crucible.cli.reference docs/cli.md

docs-check: $(VENV)/.installed-dev ## Compare docs/cli.md with the commands' own help
	$(BIN)/python -m crucible.cli.reference --check docs/cli.md

$(VENV)/.installed-site: $(VENV)/.made pyproject.toml
	$(PIP) -e '.[site]'
	@touch $@ $(VENV)/.installed

site: export NO_MKDOCS_2_WARNING = 1
site: $(VENV)/.installed-site ## Build the documentation as a website in build/site, which loads nothing from elsewhere
	$(BIN)/mkdocs build --strict --config-file docs/site/mkdocs.yml
	@echo "Open build/site/index.html; search needs a server: $(BIN)/python -m http.server --directory build/site"

build: $(VENV)/.installed-dev ## Build the source distribution, and the wheel from it, into dist
	@rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

package: $(VENV)/.installed-dev ## Build both, install the wheel into an empty environment, and do the main job there
	$(BIN)/python -m pytest -n 0 -m package $(PYTEST_ARGS) tests/test_packaging.py

clean: ## Remove everything that was made here
	rm -rf $(VENV) .cache build dist mutants .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
