# Everything runs in .venv, made on first use with Python 3.11 or 3.13 (the versions that have bpy).
# Another interpreter: make PYTHON=/path/to/python demo

VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
BENCH_STAMP := $(VENV)/.installed-bench
PYENV := $(if $(PYENV_ROOT),$(PYENV_ROOT),$(HOME)/.pyenv)
CANDIDATES := $(PYTHON) python3.11 python3 \
  $(wildcard $(PYENV)/versions/3.11*/bin/python3.11) \
  python3.13 $(wildcard $(PYENV)/versions/3.13*/bin/python3.13) python
# Run, not only looked up: a pyenv shim may exist and not run, Debian's python may lack venv.
USABLE := import sys, venv, ensurepip; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 13)))
SCENARIOS := $(wildcard ../shared/scenarios/steersuite/*.xml)

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast test-long lint bench validate docs extension test-matrix test-gui clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(STAMP)  ## Run the main job and leave a .blend, a picture and a report in out/demo
	$(PY) scripts/demo.py

test: $(STAMP)  ## Run every test but those of test-long
	$(PY) -m pytest -n 2 --dist worksteal

test-fast: $(STAMP)  ## Run what most changes can break, in two minutes
	$(PY) -m pytest -n 2 --dist worksteal -m "not slow" tests/core tests/test_*.py
	$(VENV)/bin/lint-imports

test-long: $(STAMP)  ## Run what repeats for many minutes what the other tests show once
	$(PY) -m pytest -n 2 --dist worksteal --long -m "long or hypothesis"
	STEER_WORLDS=30 $(PY) -m pytest -n 2 --dist worksteal --long tests/core/test_every_behavior.py

lint: $(STAMP)  ## Check style, borders, types and sizes
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(VENV)/bin/lint-imports
	$(PY) -m mypy steer_addon scripts/release/mypy_blender.py scripts/release/kernel_arguments.py
	$(PY) scripts/release/check_rooms.py
	$(PY) scripts/release/kernel_arguments.py

bench: $(BENCH_STAMP)  ## Measure what a user would feel (installs its peers first)
	$(PY) scripts/bench/bench.py

validate: $(STAMP)  ## Run every scenario with published numbers (out/validation)
	STEER_SCENES=1000 $(PY) -m pytest -q -n 2 tests/core/test_contact_scenes.py
	@$(if $(SCENARIOS),:,echo "Skipped: SteerBench files, as ../shared/scenarios is absent")
	$(PY) scripts/validation/validate.py $(SCENARIOS) --circle 2-250 --rvo2 --rimea --density \
	  --flows 100,500,1000,2000 --converging 10000 --jobs 2 --json out/validation/results.json --resume \
	  --markdown out/validation/validation.md --plot out/validation $(ARGS)

docs: $(STAMP)  ## Build the documentation as a site in out/site (nothing is fetched)
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet -f scripts/docs/mkdocs.yml
	@echo "out/site/index.html (to search in it: python3 -m http.server -d out/site)"

extension: $(STAMP)  ## Build the extension's zip for this platform (ARGS="--platform all" for others)
	$(PY) scripts/release/build_extension.py $(ARGS)

test-matrix: $(STAMP)  ## Run the Blender tests with every supported bpy
	$(PY) scripts/release/test_matrix.py $(ARGS)

test-gui: $(STAMP)  ## Try the built extension in a real window (BLENDER=program; out/gui)
	$(PY) scripts/window/test_gui.py $(if $(BLENDER),--blender $(BLENDER))

clean:  ## Remove what was built; the virtual environments stay
	rm -rf build dist out .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
	find steer_addon scripts tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml | $(PY)
	$(PY) -m pip install --disable-pip-version-check -e ".[dev]"
	touch $@

# The peers that crowds are measured against are large, and nothing else needs them.
$(BENCH_STAMP): $(STAMP)
	$(PY) -m pip install --disable-pip-version-check -e ".[bench]"
	touch $@

$(PY):
	@for candidate in $(CANDIDATES); do \
	  if "$$candidate" -c '$(USABLE)' >/dev/null 2>&1; then \
	    echo "Making $(VENV) with $$("$$candidate" --version) ($$candidate)"; \
	    exec "$$candidate" -m venv $(VENV); \
	  fi; \
	done; \
	echo "No usable Python 3.11 or 3.13 was found (with venv and pip): install one," \
	  "or name it: make PYTHON=/path/to/python3.11" >&2; exit 1
