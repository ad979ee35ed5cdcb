# Everything that a person does here by hand, and CI the same way.
# Only Python (3.11 or newer) and make are needed; `make run` and `make test` set up the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help venv run init quick test test-postgres test-postgres-18 test-postgres-15 test-every-case test-no-browser test-newest test-short check beside behaviour format lint types layers bench bench-context bench-gateway bench-lag bench-rendering bench-console bench-console-long bench-upgrade fuzz shown payloads backup-soak migration chaos chaos-busy chaos-long chaos-fleet chaos-scale rolling browser audit pins env-example reference census picture docs clean

help: ## what can be made
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

# One virtual environment; one stamp per requirements file, so that `make run` installs no test tools.
# What may be missing is checked first: the tools' own errors name no remedy. Nothing is compiled:
# neither C, which needs a compiler, nor bytecode that is never loaded, a third of what is installed.
PIP := $(if $(UV),uv pip install --python $(BIN)/python,$(BIN)/python -m pip install --disable-pip-version-check --no-compile) --quiet
OFFLINE := Connect|Connection|Name or service|name resolution|timed out|dns error|Failed to fetch|unreachable
define new_enough
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Tapeway needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)."; \
	  echo "Install a newer Python, or name one that you have: make $(MAKECMDGOALS) PYTHON=python3.12"; \
	  exit 1; }
endef
define install
	$(new_enough)
	@$(if $(UV),true,test -x $(BIN)/python || $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null) || { \
	  echo "$(PYTHON) cannot make virtual environments: install its module venv (on Debian and Ubuntu: sudo apt install python3-venv)."; \
	  exit 1; }
	@test -x $(BIN)/python || (echo "Making $(VENV) ..."; $(if $(UV),uv venv --quiet --python $(PYTHON) $(VENV),$(PYTHON) -m venv $(VENV)))
	@echo "Installing $(1) ..."
	@$(PIP) --only-binary :all: --require-hashes -r $(1) >$(VENV)/install.log 2>&1 || { \
	  tail -n 1 $(VENV)/install.log; \
	  if grep -qE '$(OFFLINE)' $(VENV)/install.log; \
	  then echo "The package index cannot be reached: connect this machine, or name a mirror with PIP_INDEX_URL (for uv, UV_DEFAULT_INDEX)."; \
	  else echo "A package has no ready-made build for this machine's $$($(PYTHON) --version 2>&1): name another Python, such as make $(MAKECMDGOALS) PYTHON=python3.12 (make clean first)."; \
	  fi; exit 1; }
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@
endef

$(VENV)/.run: requirements.txt pyproject.toml
	$(call install,requirements.txt)

$(VENV)/.dev: requirements-dev.txt pyproject.toml
	$(call install,requirements-dev.txt)

venv: $(VENV)/.dev ## the virtual environment with every tool

# The settings in this folder lie over those of the home folder, which `make init` writes.
run: $(VENV)/.run ## the gateway, on http://127.0.0.1:8787/ unless you say otherwise
	@$(CLOSE_ENV)exec $(BIN)/tapeway$(if $(wildcard .env tapeway.toml), --env-file "$(CURDIR)/.env") gateway --ask

init: $(VENV)/.run ## set up a model, bots and a folder, with questions
	@$(CLOSE_ENV)exec $(BIN)/tapeway init

CLOSE_ENV = $(if $(wildcard .env),chmod go-rwx .env; )

# Half of its time a test waits: for a disk, a timer, another process. And each of hundreds of
# processes would compile what it loads where the environment wants no bytecode to be kept.
# The few that fail are looked at again, beside others: `tests/second_look.py` says what that means.
PYTEST = $(BIN)/python -m tests.second_look $(BIN)/python -m pytest --numprocesses=$$(($$(getconf _NPROCESSORS_ONLN) + 2)) --dist=worksteal
SERVED := $(addprefix tests/,channels/room contracts doctor scenarios tape/stores \
  $(addprefix gateway/,backup cli console erasing intake sharing storage))
check behaviour quick test test-short test-postgres test-postgres-18 test-postgres-15: export PYTHONDONTWRITEBYTECODE =
export T K

test: $(VENV)/.dev ## the tests; some of them: make test T="tests/agent tests/test_docs.py" K="word and not other"
	$(if $(T)$(K),$(BIN)/python -m tests.chosen,$(PYTEST)) -m "not postgresql"

test-postgres: $(VENV)/.dev ## the tests that need a PostgreSQL server, which is started for them; T and K as above
	$(BIN)/python -m tests.postgres $(if $(T)$(K),$(BIN)/python -m tests.chosen -m postgresql --,$(PYTEST) -m postgresql) $(SERVED)

quick: $(VENV)/.dev ## format, lint, types, layers and the tests nearest to what you changed: 60 seconds
	@$(BIN)/python -m tests.quick_check $(SINCE)

# Plans, roles, and what every store and ledger promises: what may depend on the server's version.
OF_VERSIONS := $(addprefix tests/,contracts/test_ledgers.py contracts/test_stores.py \
  $(addprefix tape/stores/test_postgres_,plans.py roles.py versions.py))
test-postgres-18: $(VENV)/.dev ## those of them that may depend on its version, on PostgreSQL 18
	TAPEWAY_TEST_POSTGRES_VERSION=18 $(BIN)/python -m tests.postgres $(PYTEST) -m postgresql $(OF_VERSIONS)

# The oldest that is documented is Debian 12's own package, which `.ci/run` installs where it is.
test-postgres-15: $(VENV)/.dev ## the same on PostgreSQL 15, if it is on this machine
	@test -x /usr/lib/postgresql/15/bin/initdb || { echo "Left out: tests on PostgreSQL 15 (sudo apt install postgresql-15)"; exit 0; }; \
	  TAPEWAY_TEST_POSTGRES_VERSION=15 $(BIN)/python -m tests.postgres $(PYTEST) -m postgresql $(OF_VERSIONS)

# A test that forgets to say that it needs a browser fails only where there is none.
test-no-browser: $(VENV)/.dev ## that the tests of the pages are skipped, not failed, without a browser
	TAPEWAY_TEST_BROWSER=hidden $(BIN)/python -m pytest -p no:xdist tests/pages

# Each Python has an environment of its own, from the same pins.
test-newest: $(VENV)/.dev ## the first test of every file on the newest Python that is on this machine
	@newest=$$($(BIN)/python -m tests.newest) || exit 0; \
	  $(MAKE) VENV=.venv-$${newest##*/python} PYTHON=$$newest test-short

test-short: $(VENV)/.dev
	$(PYTEST) -m "not postgresql" -p tests.short

# In the gate, the channels share the cases of a test.
test-every-case: $(VENV)/.dev ## the promises to chats on a server, every case on every channel
	TAPEWAY_TEST_EVERY_CASE=1 $(BIN)/python -m tests.postgres $(PYTEST) -m postgresql tests/contracts

# mypy keeps one core busy for longer than the fleet takes, and the console's browser mostly waits:
# the tests need not wait for either. What is new among the unsteady tests must not scroll away.
check: $(VENV)/.dev lint layers ## what CI runs: format, lint, types, layers, tests, a fleet, a long tape
	$(MAKE) --jobs=2 beside behaviour
	@$(BIN)/python -m tests.unsteady

beside: $(VENV)/.dev
	$(MAKE) types
	$(MAKE) bench-console

behaviour: $(VENV)/.dev
	$(MAKE) chaos-fleet
	$(MAKE) test T= K=
	$(MAKE) test-no-browser
	$(MAKE) test-newest
	$(MAKE) test-postgres T= K=
	$(MAKE) test-postgres-18
	$(MAKE) test-postgres-15

format: $(VENV)/.dev ## put the sources into their format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

bench: $(VENV)/.dev ## the tape's benchmark, on a small tape (see docs/reference/benchmarks.md)
	$(BIN)/python -m bench.tape --entries 100000

# Chat logs stay where they are. The names say which of them only measure; others may have trained.
DATA ?= $(wildcard ../shared/data)
SLOW_ROOMS = '$(DATA)/zulip/*.9' '$(DATA)/zulip/*.1[01]'
CHINESE_ROOMS = '$(DATA)/chinese/cped.[4-7]'
bench-context: $(VENV)/.dev ## lanes, views, rooms with the agent, hidden replies and other policies on the chat logs in the folder DATA
	@test -n "$(DATA)" || { echo "Name a folder of chat logs: make bench-context DATA=FOLDER"; exit 1; }
	$(BIN)/python -m bench.linker_eval --data $(DATA)/irc/dev
	$(BIN)/python -m bench.linker_eval --data $(SLOW_ROOMS) --files
	$(BIN)/python -m bench.linker_eval --data $(CHINESE_ROOMS) --warm 30
	$(BIN)/python -m bench.bot_rooms --data $(DATA)/irc/dev
	$(BIN)/python -m bench.bot_rooms --data $(SLOW_ROOMS)
	$(BIN)/python -m bench.replies $(DATA)/discord/offtopic $(DATA)/discord/dutch
	$(BIN)/python -m bench.context --data $(DATA)/irc/dev --answers
	$(BIN)/python -m bench.rooms $(VENV)/rooms
	$(BIN)/python -m bench.policies --data $(DATA)/irc/dev $(SLOW_ROOMS) $(CHINESE_ROOMS) \
	  $(VENV)/rooms/pair $(VENV)/rooms/meeting $(VENV)/rooms/burst

bench-gateway: $(VENV)/.dev ## the gateway's benchmark, between a Telegram and a model of our own
	$(BIN)/python -m bench.gateway

fuzz: $(VENV)/.dev ## every parser of bytes from outside, searched for ten minutes each
	$(BIN)/python -m tests.fuzz --seconds 600

bench-lag: $(VENV)/.dev ## how long hostile text of 64 KB holds the gateway's event loop, on every platform
	$(BIN)/python -m bench.loop_lag

bench-rendering: $(VENV)/.dev ## what it costs each target to draw an answer that grows, and hostile texts
	$(BIN)/python -m bench.rendering

bench-console: $(VENV)/.dev ## the console on a tape of 100 000 entries: paint, jumps, scrolling, live events; a minute
	$(BIN)/python -m bench.console

bench-console-long: $(VENV)/.dev ## the same on 1 000 000, and what five consoles cost the chats; twenty minutes
	$(BIN)/python -m bench.console --long
	$(BIN)/python -m bench.console_chats

shown: $(VENV)/.dev ## whether people see what the model wrote: 10 000 texts and 500 by others on five targets; ten minutes
	$(BIN)/python -m tests.shown.run

payloads: $(VENV)/.dev ## one answer on every target, as a table: what is sent, and what people see
	$(BIN)/python -m tests.shown.payloads $(PICTURES)

backup-soak: $(VENV)/.dev ## a backup while 100 messages a second arrive, restored elsewhere and counted
	$(BIN)/python -m tests.scenarios.backup_soak

migration: $(VENV)/.dev ## a million entries moved to PostgreSQL and ten thousand back, each move killed ten times
	$(BIN)/python -m tests.postgres $(BIN)/python -m tests.gateway.backup.migration

bench-upgrade: $(VENV)/.dev ## how long databases of earlier versions with a million entries take to upgrade
	$(BIN)/python -m bench.upgrade

chaos: $(VENV)/.dev ## random kills and faults against the real gateway, a few minutes
	$(BIN)/python -m tests.chaos --schedules 90

chaos-busy: $(VENV)/.dev ## a short form of it beside two cores that compute
	$(BIN)/python -m tests.chaos --schedules 24 --burn 2

chaos-long: $(VENV)/.dev ## the same for most of an hour: a thousand schedules a channel and more
	$(BIN)/python -m tests.chaos --schedules 1000 --each-point 20 --side-by-side 10 --fresh 20 --talk 100

chaos-fleet: $(VENV)/.dev ## several processes on one PostgreSQL: kills, restarts, freezes; a minute
	$(BIN)/python -m tests.fleet

chaos-scale: $(VENV)/.dev ## the same for half an hour
	$(BIN)/python -m tests.fleet --long --talk 300

rolling: $(VENV)/.dev ## this version beside its predecessor, a checkout PREDECESSOR with its own .venv
	$(BIN)/python -m tests.fleet.rolling "$(PREDECESSOR)"

audit: $(VENV)/.dev ## known vulnerabilities of the pinned requirements (asks an advisory service)
	@$(BIN)/python -m bench.audit

pins: ## pin the requirements again (needs uv)
	uv pip compile $(PINS) pyproject.toml build-requirements.in -o requirements.txt
	uv pip compile $(PINS) --extra dev pyproject.toml build-requirements.in -o requirements-dev.txt
	uv pip compile $(PINS) --extra train pyproject.toml build-requirements.in -o requirements-train.txt
	uv pip compile $(PINS) docs-requirements.in -o requirements-docs.txt
PINS := --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url --no-emit-find-links

env-example: $(VENV)/.run ## write .env.example from the settings
	$(BIN)/python -m gateway.settings.env_example > .env.example

reference: $(VENV)/.dev ## write the generated parts of docs/reference from the code
	$(BIN)/python -m tests.reference

# Needs npm; what it installs stays out of git. `make check` compares what is committed with the docs.
census: ## write tests/census/*.json: every path in the messages of the platforms' own types
	cd tests/census && npm install --silent --no-audit --no-fund --no-package-lock && node census.mjs

picture: $(VENV)/.dev ## draw the pictures of the terminal chat, the page and the console in docs/images
	$(BIN)/python -m tests.gateway.cli.chat.picture
	$(BIN)/python -m tests.pages.pictures
	$(BIN)/python -m tests.gateway.console.pictures

docs: $(VENV)-docs/.made ## the documentation as a site, in site/; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(VENV)-docs/bin/mkdocs build --strict
	@echo "Open site/index.html in a browser."

$(VENV)-docs/.made: requirements-docs.txt
	$(new_enough)
	@test -x $(VENV)-docs/bin/python || $(if $(UV),uv venv --quiet --python $(PYTHON) $(VENV)-docs,$(PYTHON) -m venv $(VENV)-docs)
	@$(if $(UV),uv pip install --quiet --python $(VENV)-docs/bin/python --require-hashes -r $<,$(VENV)-docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<)
	@touch $@

clean: ## remove the virtual environment and the caches
	rm -rf $(VENV) $(VENV)-* site .mypy_cache .ruff_cache .import_linter_cache build dist
