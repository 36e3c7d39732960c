# Everything starts here: `make help`. Each target sets up what it needs; what is already there is used again.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory --no-builtin-rules

VENV ?= .venv
PYTHON ?=
export ANSIBLE_CONFIG := $(CURDIR)/ansible.cfg
export PYTHONDONTWRITEBYTECODE :=
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
BIN := $(VENV)/bin
PY := $(BIN)/python
PYTEST := $(PY) -m pytest
PLAY := $(BIN)/ansible-playbook
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
# Which nodes and options a run is about: `make demo NODES=4`, `make molecule SCENARIO=rail_network`, `make unit K=dcb`.
NODES ?= 2
SCENARIO ?= $(sort $(notdir $(patsubst %/molecule.yml,%,$(wildcard extensions/molecule/*/molecule.yml))))
K ?=
SELECT := $(if $(K),-k '$(K)')
export LAB_NODES := $(NODES)

##@ Use it
.PHONY: help
help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@printf '\nVariables: PYTHON=python3.12 (this interpreter), VENV=.venv-312 (another environment), NODES=4 (lab), SCENARIO=role, K=expression, NODE=name\n'

.PHONY: demo
demo: lab-up ## the main job on the lab: site.yml, prove, and a report
	$(PY) tools/demo.py

.PHONY: setup
setup: ## the virtual environment, from the newest suitable Python (PYTHON= overrides)
	@command -v python3 >/dev/null || { echo "setup: installing with apt-get: python3 python3-venv"; \
	  $(SUDO) apt-get -q update >/dev/null; $(SUDO) apt-get -qy install --no-install-recommends python3 python3-venv >/dev/null; }
	@python3 tools/setup.py --venv '$(VENV)' --python '$(PYTHON)'

##@ Test it
.PHONY: test-fast
test-fast: lint unit contract ## lint, unit and contract tests: under five minutes

.PHONY: test
test: ## all tiers, the representative cases: what CI runs
	@$(BOOT) tools/run_tiers.py --venv '$(VENV)' lint unit unit-bare contract artifact molecule-one lab-test

.PHONY: test-full
test-full: ## every matrix; long
	@$(BOOT) tools/run_tiers.py --venv '$(VENV)' lint unit-full unit-bare unit-py39 contract artifact molecule lab-test-full
BOOT := python3

.PHONY: lint
lint: setup ## every linter, two at a time
	@$(MAKE) -j2 -O lint-ansible lint-python lint-yaml lint-words

.PHONY: lint-python
lint-python: setup ## ruff and its format, mypy --strict on the core, and nothing newer than Python 3.9 on nodes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy plugins/module_utils/fabric
	@if files=$$(find plugins/modules plugins/module_utils -name '*.py') && [ -n "$$files" ]; then \
	  echo "vermin: Python 3.9 on nodes"; $(BIN)/vermin -q --no-tips --violations --eval-annotations -t=3.9- $$files; fi

.PHONY: lint-yaml
lint-yaml: setup ## yamllint, strict
	$(BIN)/yamllint --strict .

.PHONY: lint-ansible
lint-ansible: setup ## ansible-lint, production profile, offline
	$(BIN)/ansible-lint --offline --strict -q

.PHONY: lint-words
lint-words: setup ## spelling
	$(BIN)/codespell

.PHONY: unit
unit: setup ## the core against fixtures, transcripts and properties
	$(PYTEST) tests/unit -q -n 2 -m 'not full' $(SELECT)

.PHONY: unit-full
unit-full: setup ## the same with the slow cases and many more examples of each property
	$(PYTEST) tests/unit -q -n 2 --hypothesis-profile=full $(SELECT)

.PHONY: unit-bare
unit-bare: setup ## the same with Ansible out of reach: the core must not need it
	$(PYTEST) tests/unit --without-ansible -q -n 2 -m 'not full' $(SELECT)

.PHONY: unit-py39
unit-py39: setup ## the same under Python 3.9, where there is one: the oldest on managed nodes
	$(PY) tools/unit_py39.py

.PHONY: contract
contract: setup ## what the house promises about itself
	$(PYTEST) tests/contract -q -n 2 -m 'not artifact' $(SELECT)

.PHONY: artifact
artifact: setup ## build the collection, install it into an empty path, sanity and units there
	$(PYTEST) tests/contract -m artifact $(SELECT)

.PHONY: molecule
molecule: lab-up ## each role: converge, idempotence, check mode, verify (SCENARIO=name for one)
	$(PY) tools/molecule.py $(SCENARIO)

.PHONY: molecule-one
molecule-one: ## the scenario that has most of the others before it
	@$(MAKE) molecule SCENARIO=rail_network

.PHONY: lab-test
lab-test: lab-deps ## site.yml on real kernels, faults injected and found
	$(PYTEST) tests/lab -m 'not full' $(SELECT)

.PHONY: lab-test-full
lab-test-full: lab-deps ## the same, every fault and every interruption
	$(PYTEST) tests/lab $(SELECT)

.PHONY: bench
bench: lab-up ## the performance table, as ratios within one run
	$(PY) tools/bench.py

##@ The lab
.PHONY: lab-deps
lab-deps: setup ## the system packages that the lab needs
	$(PY) -m lab deps

.PHONY: lab-up
lab-up: lab-deps ## start the nodes (NODES=2)
	$(PY) -m lab up

.PHONY: lab-down
lab-down: setup ## stop them and leave nothing behind
	$(PY) -m lab down

.PHONY: lab-reset
lab-reset: setup ## back to the nodes as they first booted, in seconds
	$(PY) -m lab reset

.PHONY: lab-ssh
lab-ssh: setup ## a shell on a node: make lab-ssh NODE=node1
	@test -n '$(NODE)' || { echo 'lab-ssh: name a node, as in: make lab-ssh NODE=node1'; exit 2; }
	$(PY) -m lab ssh $(NODE)

.PHONY: lab-status
lab-status: setup ## what runs, and who holds the lab
	$(PY) -m lab status

##@ Keep it
.PHONY: docs
docs: setup ## regenerate role READMEs and the references
	$(PY) tools/gen_docs.py

.PHONY: build
build: setup ## the collection's artifact, in artifacts/
	$(BIN)/ansible-galaxy collection build --force --output-path artifacts

.PHONY: clean
clean: ## remove what set-up and runs left in the checkout
	@if [ -x $(PY) ] && [ -d lab ]; then $(PY) -m lab down || true; fi
	rm -rf .venv .venv-* .venv*.lock .cache .ansible .work artifacts reports context .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
