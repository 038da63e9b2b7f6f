# Every target makes .venv and installs what it needs by itself, and is quick the second time.
.DEFAULT_GOAL := help
.PHONY: help demo page compiled test test-all test-extras test-min test-pythons fuzz lint bench accuracy images reproduce evidence docs release figures clean

PYTHON := python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.demo
STAMP := $(VENV)/.installed
HAS_UV := $(shell command -v uv 2>/dev/null)
INSTALL := $(if $(HAS_UV),uv pip install --python $(BIN)/python,$(BIN)/python -m pip install --disable-pip-version-check) --quiet

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# What a user installs: the package, and matplotlib for the picture.
$(DEMO): pyproject.toml paper/pyproject.toml
	@test -x $(BIN)/python || $(if $(HAS_UV),uv venv --quiet,$(PYTHON) -m venv) $(VENV) || { rm -rf $(VENV); exit 1; }
	@$(INSTALL) -e '.[plot]'
	@touch $@

# What a developer adds: all extras, the paper's package, and both groups (pip knows groups only since 25.1).
DEV := import tomllib; groups = tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]; print(*groups["dev"], *groups["docs"], sep="\n")
$(STAMP): $(DEMO)
	@$(BIN)/python -c '$(DEV)' > $(VENV)/dev.txt
	@$(INSTALL) -e '.[all,heif]' -e paper -r $(VENV)/dev.txt
	@touch $@

demo: $(DEMO) ## the main job on bundled real digits, ending in a picture
	$(BIN)/setwise demo

page: $(STAMP) ## the page on a gallery of digits, with an inbox to sort, in the browser
	$(BIN)/python examples/digits_page.py out/page
	$(BIN)/setwise serve out/page/digits.setwise --inbox out/page/inbox --into out/page/sorted

lint: $(STAMP) ## ruff, types and the import contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

PYTEST := $(BIN)/pytest --numprocesses 2 --dist worksteal

# Two processes of tests would each compile every kernel.
compiled: $(STAMP)
	@$(BIN)/python tests/compile_kernels.py

test: lint compiled ## lint, types, the tests and their coverage: what CI runs
	$(PYTEST) --cov --cov-report=term:skip-covered
	$(BIN)/coverage report --include='$(subst $(space),,$(MATHEMATICS))' --omit='*/*kernels.py' --fail-under=90

# The mathematics and the input gate; compiled kernels are out of coverage's sight and are
# tested compiled, and tests/lasso compares its own with their plain Python.
comma := ,
space := $(subst ,, )
MATHEMATICS := $(foreach step,sets io faces features basis lasso graph cut cluster gallery classify baselines evaluation plots,*/setwise/$(step)/*$(comma))*/setwise_paper/*

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

accuracy: $(STAMP) ## the accuracy tables, on the real datasets (about half an hour)
	$(BIN)/python benchmarks/accuracy.py

images: $(STAMP) ## pixels, HOG and LBP together; loading; rendered objects (about an hour)
	$(BIN)/python benchmarks/image_features.py --galleries
	$(BIN)/python benchmarks/image_features.py
	$(BIN)/python benchmarks/image_features.py --default
	$(BIN)/python benchmarks/load_images.py
	$(BIN)/python benchmarks/rendered.py

DATA := $(or $(SETWISE_DATA),../shared/data)
STUDIES := eth80 eth80-64 yaleb coil20 hands vowels

reproduce: $(STAMP) ## the paper's tables and figures beside ours, into out/ and docs/reproduced.md (about 50 minutes)
	$(BIN)/setwise reproduce $(STUDIES) --data $(DATA)
	$(BIN)/python benchmarks/render_objects.py out/objects/objects.npz
	$(BIN)/setwise reproduce benchmarks/objects.toml --data out/objects
	$(BIN)/python benchmarks/write_reproduced.py

together: $(STAMP) ## few labels: sets judged alone and together, into docs/together.md (about an hour)
	$(BIN)/python benchmarks/together.py --jobs 2

evidence: $(STAMP) ## pixels, embeddings, strangers, small sets, unknowns, into docs/evidence_table.md and README.md (about 10 minutes)
	$(BIN)/python benchmarks/evidence_table.py --jobs 2

docs: $(STAMP) ## the site, into out/site; warnings are errors, examples are run (about 3 minutes)
	SETWISE_RUN_GALLERY=1 $(BIN)/python -m sphinx -b html -q -W --keep-going -d out/doctrees docs out/site
	@echo "open out/site/index.html"

# Rivals, for the benchmarks only (SPAMS is GPL: never a dependency).
RIVALS := spams-bin celer skglm networkx
BENCHMARKS := before_after latency per_probe lasso_graph cut growth enroll dictionary large_paths large_galleries threads quick_table

$(VENV)/.rivals: $(STAMP)
	@$(INSTALL) $(RIVALS)
	@touch $@

bench: $(VENV)/.rivals ## every speed table, before and after and beside its rivals, into docs/speed.md (about an hour)
	for name in $(BENCHMARKS); do $(BIN)/python benchmarks/$$name.py || exit 1; done
	$(BIN)/python benchmarks/write_docs.py

figures: $(STAMP) ## pictures of the docs: the Start page's albums and reports, Fig. 4, rendered objects
	$(BIN)/python benchmarks/front_picture.py
	$(BIN)/python benchmarks/two_gaussians_figure.py docs/two_gaussians.png
	$(BIN)/python benchmarks/object_views.py docs/object_views.png

clean: ## remove .venv and everything made
	rm -rf $(VENV) out .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
