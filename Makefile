# The commands of the project. They need Python >= 3.11, pip and make, and keep
# everything they install in .venv. TIEBREAK_DATA, if set, reaches every command.

# The versions with which all tests passed, the one of the last run first. The first
# interpreter that can make a virtual environment is used; versions that were not tried
# come after these, because compiled dependencies follow a new Python with a delay.
override TRIED := 3.13 3.12 3.11
PYTHON ?= $(TRIED:%=python%) python3.14 python3 python

# Processes that share the tests, one more than cores, because pages and servers wait
# more than they work; 0 runs all in one, which a debugger needs.
JOBS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((n + 1)))

# Which tests run: short leaves out most of the costly products, all leaves out none.
TESTS ?= short

# The seed of the tests: a number, or "random" to draw one, which is printed.
SEED ?= $(TIEBREAK_TEST_SEED)

override VENV := .venv
override PY := $(VENV)/bin/python

# Compiled modules are kept, also where the environment says otherwise: the tests start
# hundreds of processes, and each would compile the package again.
override export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-machines test-oldest browser fuzz mutants lint style types docs bench release-check clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.installed-plot ## rank real matches, forecast, draw level curves, write a report
	@$(PY) examples/demo.py

# Types and layers are checked beside the tests, and what they say is shown at the end.
test: style browser ## run the linters, the type checker and the tests
	@$(MAKE) --no-print-directory types >$(VENV)/types.log 2>&1 & types=$$!; \
	TIEBREAK_TESTS=$(TESTS) TIEBREAK_TEST_SEED=$(SEED) \
	  $(PY) -m pytest --numprocesses $(JOBS) --dist worksteal; tests=$$?; \
	wait $$types || tests=1; cat $(VENV)/types.log; exit $$tests

# Tests of pages skip without a browser. Only root can install Debian's.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing chromium for the tests of pages"; \
	  (apt-get update -q && apt-get install -y -q chromium) >$(VENV)/apt.log 2>&1 \
	    || echo "chromium could not be installed ($(VENV)/apt.log); tests of pages skip"; \
	fi

test-machines: ## run the short tests as other processors and Pythons would
	@$(firstword $(foreach p,$(PYTHON),$(shell command -v $(p)))) -m tools.machines

test-oldest: ## run the short tests with the lower bounds of pyproject.toml
	@$(firstword $(foreach p,$(PYTHON),$(shell command -v $(p)))) -m tools.oldest

# Minutes of looking for inputs that break something, and the seed of the first ones.
MINUTES ?= 5
fuzz: $(VENV)/.installed-test ## try changed files, model files, numbers and arguments
	@$(PY) -m tools.fuzz --minutes $(MINUTES) --seed $(or $(SEED),0)

mutants: $(VENV)/.installed-test ## break small things, and see that tests notice
	@$(PY) -m tools.mutants

lint: style types ## check style, types and layers

style: $(VENV)/.installed-test
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

types: $(VENV)/.installed-test
	@$(PY) -m mypy
	@$(VENV)/bin/lint-imports --no-logo

docs: $(VENV)/.installed-docs ## build the site, docs/_build/html/index.html
	@$(PY) -m sphinx -W --keep-going -n -q -j auto docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: $(VENV)/.installed-bench ## measure against other libraries, as ratios
	@$(PY) -m benchmarks.run $(BENCH)

# Tried with the Python of .venv, or with every one that PYTHON=... names.
release-check: test-machines $(VENV)/.installed-release ## try all machines, and packages in clean environments
	@$(PY) -m tools.release_check $(if $(filter file,$(origin PYTHON)),,--python $(PYTHON))

clean: ## remove .venv, caches and build results
	@rm -rf $(VENV) tiebreak-demo build dist docs/_build .hypothesis .import_linter_cache \
	  .mypy_cache .pytest_cache .ruff_cache
	@find src tests benchmarks examples tools -name __pycache__ -prune -exec rm -rf {} +

# One stamp per extra: what is installed is installed again only after a change of
# pyproject.toml or a new .venv. pip is heard only when it fails.
$(VENV)/.installed-%: pyproject.toml $(VENV)/pyvenv.cfg
	@echo "installing tiebreak$(if $(filter core,$*),, with its $* extra) into $(VENV)"
	@$(PY) -m pip install --disable-pip-version-check \
	  --editable '.$(if $(filter core,$*),,[$*])' >$(VENV)/pip.log 2>&1 \
	  || { cat $(VENV)/pip.log >&2; exit 1; }
	@touch $@

# Asks one interpreter whether it will do; the answer is its exit status, and the
# reason why not is on standard error.
define PROBE
import sys
if sys.version_info < (3, 11):
    sys.exit("Python %d.%d is older than 3.11" % sys.version_info[:2])
try:
    import ensurepip, venv
except ImportError as error:
    sys.exit("%s (Debian and Ubuntu: install python3-venv)" % error)
endef
export PROBE

# An environment that was left half made, or has lost its interpreter, is made again.
ifneq ($(shell test -x $(PY) && test -x $(VENV)/bin/pip && echo whole),whole)
.PHONY: $(VENV)/pyvenv.cfg
endif

$(VENV)/pyvenv.cfg:
	@found=; reasons=; \
	for python in $(PYTHON); do \
	  command -v "$$python" >/dev/null 2>&1 || continue; \
	  if answer=$$("$$python" -c "$$PROBE" 2>&1); then found=$$python; break; fi; \
	  reasons="$$reasons; $$python: $$(echo "$$answer" | head -n 1)"; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "tiebreak needs Python >= 3.11 with venv and pip$${reasons:-; found none of: $(PYTHON)}." >&2; \
	  echo "Name one that has them: make PYTHON=/path/to/python3" >&2; \
	  exit 1; \
	fi; \
	version=$$("$$found" -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	case " $(TRIED) " in *" $$version "*) why="all tests passed with it before";; \
	  *) why="tests were not run with it before; tried versions are $(TRIED)";; esac; \
	echo "creating $(VENV) with $$("$$found" --version) ($$found): $$why"; \
	"$$found" -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }
