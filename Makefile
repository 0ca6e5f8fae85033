# SPDX-License-Identifier: Apache-2.0
# Beatmatch: `make` alone prints this help. Every target sets up what it needs.
#
# Variables, all optional, with example values:
#   CONFIG=small                a preset (tiny, small, base, large, mxu128); without it each target takes its own,
#                               and `make lockstep` random configurations
#   SIM=icarus                  simulator: verilator (default) or icarus
#   BENCH=core                  which bench `make sim` runs; without it the list of them
#   WAVES=1                     record waves (`make sim`)
#   COCOTB_RANDOM_SEED=7        base seed of everything random
#   N=100                       number of random programs of `make lockstep` (100)
#   RUN=sim_build/...           the failing run that `make replay` repeats with waves
#   TESTS=tests/model           what `make test` runs; default is all
#   PYTHON=python3.12           Python that makes .venv

PYTHON ?= python3
SIM    ?= verilator
N      ?= 100
TESTS  ?= tests
export SIM  # the others reach the tools as they are: make exports what its command line sets

VENV_PYTHON := .venv/bin/python
RUN_MODULE  := $(VENV_PYTHON) -m
# An option is passed on only if its variable is set.
config_option = $(if $(CONFIG),--config $(CONFIG))
seed_option   = $(if $(COCOTB_RANDOM_SEED),--seed $(COCOTB_RANDOM_SEED))

.DEFAULT_GOAL := help
.PHONY: help setup demo test lockstep sim bench bench-edit synth measure lint generate waves replay clean

help:
	@sed -n 's/^#   \{0,1\}/  /p' Makefile
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

setup: ## make .venv and install all that is missing (the other targets do this too)
	@$(PYTHON) tools/setup.py

demo: setup ## the digits networks on the model and, in lockstep, on the RTL
	@$(RUN_MODULE) tb.demo $(config_option)

test: setup ## all tests, on both simulators
	@$(RUN_MODULE) pytest -n 2 --dist worksteal $(TESTS)

lockstep: setup ## N random programs on model and RTL, compared cycle by cycle
	@$(RUN_MODULE) beatmatch.cli lockstep --random $(N) --sim $(SIM) $(seed_option) $(config_option)

sim: setup ## run one plain cocotb bench by name: a station's, the whole core's, the tutorial's
	@$(RUN_MODULE) tb.run_bench $(BENCH) $(config_option)

bench: setup ## speed of the lockstep run, and what the time goes to
	@$(RUN_MODULE) tb.lockstep.bench --sim $(SIM) $(config_option)

bench-edit: setup ## time the loop from an edit in the PE to the first divergence report
	@$(RUN_MODULE) tb.bench_edit

synth: setup ## Yosys: cells by module and memory bits of CONFIG
	@$(RUN_MODULE) tb.synth $(config_option)

measure: setup ## measure every preset for the README's table (an hour)
	@$(VENV_PYTHON) tools/measure_presets.py

lint: setup ## Verilator and Icarus with all warnings, ruff
	@$(RUN_MODULE) tb.lint
	@$(RUN_MODULE) ruff check .

generate: setup ## write the generated files anew (RTL package, tables, register map, timing diagrams)
	@$(RUN_MODULE) beatmatch.generate
	@$(VENV_PYTHON) tools/draw_waves.py

replay: setup ## repeat the failing run RUN= with waves around the first divergence
	@$(if $(RUN),,$(error Name the run: make replay RUN=sim_build/...))
	@$(RUN_MODULE) tb.lockstep.replay $(RUN)

waves: replay ## the same as replay

clean: ## remove everything that was generated at run time (not .venv)
	@rm -rf sim_build .pytest_cache .ruff_cache .hypothesis
