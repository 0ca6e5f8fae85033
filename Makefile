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
#   SEEDS=1,2,3                 base seeds of the regressions (1)
#   JOBS=2                      worker processes of the verification runs (2)
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
seeds_option  = $(if $(SEEDS),--seeds $(SEEDS))
jobs_option   = $(if $(JOBS),--jobs $(JOBS))
# A verification run takes both simulators unless SIM= names one on the command line or in the environment.
sims_option   = $(if $(filter-out file,$(origin SIM)),--sim $(SIM))

.DEFAULT_GOAL := help
.PHONY: help setup demo test lockstep sim bench bench-peers bench-edit synth measure lint generate replay clean
.PHONY: smoke regress nightly networks uvm cover mutate formal faults planted reruns testplan report signoff

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

bench: setup ## speed of the lockstep run and what the time goes to; fast tier beside stepped
	@$(RUN_MODULE) tb.lockstep.bench --sim $(SIM) $(config_option)
	@$(RUN_MODULE) tb.fast.bench

bench-peers: setup ## the same layers on SCALE-Sim and ZigZag, in environments of their own (ten minutes, 9 GB)
	@$(RUN_MODULE) tb.peers

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

smoke: setup ## a few random programs on both simulators, in a minute
	@$(RUN_MODULE) tb.regress smoke $(sims_option) $(config_option) $(seeds_option) $(jobs_option)

regress: setup ## at least 300 programs and 300,000 cycles on each simulator
	@$(RUN_MODULE) tb.regress regress $(sims_option) $(config_option) $(seeds_option) $(jobs_option)

nightly: setup ## 5,000 programs and 10 million cycles, within the hour
	@$(RUN_MODULE) tb.regress nightly $(sims_option) $(config_option) $(seeds_option) $(jobs_option)

networks: setup ## whole networks in lockstep on the large preset, millions of cycles, in a quarter of an hour
	@$(RUN_MODULE) tb.regress networks $(config_option) $(seeds_option) $(jobs_option)

uvm: setup ## the pyuvm environment's tests
	@$(RUN_MODULE) tb.uvm $(sims_option) $(config_option) $(seed_option)

cover: setup ## functional and code coverage
	@$(RUN_MODULE) tb.coverage $(jobs_option)

mutate: setup ## mutants of the RTL and of the golden model
	@$(RUN_MODULE) tb.mutation $(jobs_option)
	@$(RUN_MODULE) tb.model_mutation $(jobs_option)

formal: setup ## the proofs
	@$(RUN_MODULE) tb.formal $(jobs_option)

faults: setup ## bit flips in the state of the RTL
	@$(RUN_MODULE) tb.flips $(jobs_option)

planted: setup ## faults planted in the checks and their environment
	@$(RUN_MODULE) tb.planted

reruns: setup ## one seed 200 times: the same trace in any order, with any number of workers
	@$(RUN_MODULE) tb.regress reruns $(jobs_option)

testplan: setup ## the test plan against tests, coverage and results
	@$(RUN_MODULE) tb.regress testplan

report: setup ## one page of everything the verification runs left behind
	@$(RUN_MODULE) tb.report

signoff: setup ## run all that the report needs, except nightly, within two hours
	@$(RUN_MODULE) tb.regress signoff $(jobs_option)

clean: ## remove everything that was generated at run time (not .venv)
	@rm -rf sim_build .pytest_cache .ruff_cache .hypothesis
