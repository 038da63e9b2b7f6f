# Every target makes .venv and installs by itself, and is quick the second time.
.DEFAULT_GOAL := help
.PHONY: help demo test lint bench accuracy images reproduce choose figures clean

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV := pytest pytest-cov pytest-xdist pytest-timeout hypothesis ruff mypy import-linter pandas polars onnx pyarrow selenium

help: ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml
	@if command -v uv >/dev/null 2>&1; then \
	  test -x $(BIN)/python || uv venv --quiet $(VENV); \
	  uv pip install --quiet --python $(BIN)/python -e '.[all]' $(DEV); \
	else \
	  test -x $(BIN)/pip || python3 -m venv $(VENV); \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all]' $(DEV); \
	fi
	@touch $@

demo: $(STAMP) ## the main job on bundled real digits, ending in a picture
	$(BIN)/setwise demo

lint: $(STAMP) ## ruff, types and the import contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint ## lint, types and all tests
	$(BIN)/pytest --numprocesses 2 --cov --cov-report=term:skip-covered
	$(BIN)/coverage report --include='$(subst $(space),,$(MATHEMATICS))' --omit='*/kernels.py' --fail-under=95

# The mathematics and the input gate; compiled kernels are out of coverage's sight and are
# tested compiled, and tests/lasso compares its own with their plain Python.
comma := ,
space := $(subst ,, )
MATHEMATICS := $(foreach step,sets io features basis lasso graph cut cluster classify baselines evaluation studies plots,*/setwise/$(step)/*$(comma))

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

choose: $(STAMP) ## how the default was chosen, on galleries alone (about an hour)
	$(BIN)/python benchmarks/choose_default.py

# Rivals, for the benchmarks only (SPAMS is GPL: never a dependency).
RIVALS := spams-bin celer skglm networkx
BENCHMARKS := latency per_probe lasso_graph cut growth enroll dictionary large_paths

$(VENV)/.rivals: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(RIVALS)
	@touch $@

bench: $(VENV)/.rivals ## every speed table, beside its rivals, into docs/speed.md (about an hour)
	for name in $(BENCHMARKS); do $(BIN)/python benchmarks/$$name.py || exit 1; done
	$(BIN)/python benchmarks/write_docs.py

figures: $(STAMP) ## pictures of the examples: Fig. 4, all methods on digits, rendered objects
	$(BIN)/python examples/ncut_two_gaussians.py
	$(BIN)/python examples/compare_methods.py
	$(BIN)/python examples/object_views.py

clean: ## remove .venv and everything made
	rm -rf $(VENV) out .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
