# Every target makes .venv and installs what it needs by itself, and is quick the second time.
.DEFAULT_GOAL := help
.PHONY: help demo page compiled test test-all test-extras test-min test-pythons fuzz lint measure evidence together heaps images reproduce bench docs release figures clean

PYTHON := python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.demo
STAMP := $(VENV)/.installed
HAS_UV := $(shell command -v uv 2>/dev/null)
INSTALL := $(if $(HAS_UV),uv pip install --python $(BIN)/python,$(BIN)/python -m pip install --disable-pip-version-check) --quiet

help: ## show this list
	@grep -E '^[a-z -]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# What a user installs: the package, and matplotlib for the picture.
$(DEMO): pyproject.toml paper/pyproject.toml
	@test -x $(BIN)/python || $(if $(HAS_UV),uv venv --quiet,$(PYTHON) -m venv) $(VENV) || { rm -rf $(VENV); exit 1; }
	@$(INSTALL) -e '.[plot]'
	@touch $@

# What a developer adds: all extras, the paper's package, and both groups (pip knows groups only since 25.1).
DEV := import tomllib; groups = tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]; print(*groups["dev"], *groups["docs"], sep="\n")
$(STAMP): $(DEMO)
	@$(BIN)/python -c '$(DEV)' > $(VENV)/dev.txt
	@$(INSTALL) -e '.[all,heif,raw]' -e paper -r $(VENV)/dev.txt
	@touch $@

demo: $(DEMO) ## the main job on bundled real digits, ending in a picture
	$(BIN)/setwise demo

page: $(STAMP) ## the page on a gallery of photos, with an inbox to sort, in the browser
	$(BIN)/python benchmarks/page_photos.py out/page
	$(BIN)/setwise serve out/page/things.setwise --photos out/page/photos --inbox out/page/inbox --into out/page/sorted

lint: $(STAMP) ## ruff, types and the import contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# For two cores: a quarter of the time of the tests is spent waiting for servers and browsers.
PYTEST := $(BIN)/pytest --numprocesses 3 --dist worksteal

# Else each process of tests would compile every kernel.
compiled: $(STAMP)
	@$(BIN)/python tests/compile_kernels.py

test: lint compiled ## lint, types, the tests and their coverage: what CI runs
	$(PYTEST) --cov --cov-report=
	$(BIN)/coverage report --skip-covered --include='$(subst $(space),,$(MATHEMATICS))' --omit='*/*kernels.py' --fail-under=90

# The mathematics and the input gate, covered by their own tests (tests/conftest.py). Compiled
# kernels are out of coverage's sight: they are tested compiled, and tests/lasso compares its own
# with their plain Python.
comma := ,
space := $(subst ,, )
MATHEMATICS := $(foreach step,sets io faces features basis lasso graph cut cluster index gallery together classify baselines evaluation plots,*/setwise/$(step)/*$(comma))*/setwise_paper/*

test-all: compiled ## every test, those marked slow too
	$(PYTEST) -m ""

fuzz: $(STAMP) ## the properties alone, on many random examples, other ones each time
	HYPOTHESIS_PROFILE=fuzz $(PYTEST) -m hypothesis --timeout 3600

# Each makes environments of its own below out/release; none is part of CI.
release: ## build wheel and sdist, check both, and try the wheel in an empty folder (minutes)
	$(PYTHON) tests/release/environments.py release

test-extras: ## every extra alone, doing one small job (many minutes)
	$(PYTHON) tests/release/environments.py extras

test-min: ## the quick tests with the lowest versions of pyproject.toml (many minutes)
	$(PYTHON) tests/release/environments.py min

test-pythons: ## the quick tests on every Python from 3.11 to 3.14 that is found (many minutes)
	$(PYTHON) tests/release/environments.py pythons

# What the docs tell, measured: each goes on where it stopped, and writes docs/benchmarks/*.json and the pages.
# JOBS=16 measures what has no times in sixteen processes.
MEASURE := $(BIN)/python benchmarks/measure.py $(if $(JOBS),--jobs $(JOBS))

measure: $(VENV)/.rivals ## measure everything that the docs tell, and write the pages (hours; goes on where it stopped)
	$(MEASURE)

evidence together heaps: $(STAMP) ## one page of it: accuracy on every task; few labels, or none; groups of many sets
	$(MEASURE) $@

images: $(STAMP) ## settings for images, with and without a network, on five datasets (long)
	$(BIN)/python benchmarks/image_settings.py

reproduce: $(STAMP) ## the paper's tables and figures beside ours (about 50 minutes)
	$(MEASURE) reproduced

bench: $(VENV)/.rivals ## speed beside rivals, at a glance and step by step (a quiet machine, about an hour)
	$(MEASURE) speed
	for step in per_probe lasso_graph cut growth enroll latency threads large_paths dictionary; do \
		$(BIN)/python benchmarks/$$step.py || exit 1; done

docs: $(STAMP) ## the site, into out/site; warnings are errors, examples are run (about 3 minutes)
	SETWISE_RUN_GALLERY=1 $(BIN)/python -m sphinx -b html -q -W --keep-going -d out/doctrees docs out/site
	@echo "open out/site/index.html"

# Rivals, for the benchmarks only (SPAMS is GPL: never a dependency).
RIVALS := spams-bin celer skglm networkx

$(VENV)/.rivals: $(STAMP)
	@$(INSTALL) $(RIVALS)
	@touch $@

figures: $(STAMP) ## pictures of the docs: the Start page's albums and reports, Fig. 4, rendered objects and their graph
	$(BIN)/python benchmarks/front_picture.py
	$(BIN)/python benchmarks/two_gaussians_figure.py docs/two_gaussians.png
	$(BIN)/python benchmarks/object_views.py docs/object_views.png
	$(BIN)/python benchmarks/graph_picture.py docs/pictures/graph.jpg

clean: ## remove .venv and everything made
	rm -rf $(VENV) out .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
