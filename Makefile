# `make help` lists the targets. `make run` and `make test` need only Go and a C compiler. A target
# that needs more prints what is missing.

GO      ?= go
BIN     := bin/sluice
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
LINT    := $(GO) tool -modfile=tools/go.mod golangci-lint

# The tests of the complete program are a separate module, so that the program does not depend on
# what only they need. TEST runs the go command in that module.
TEST := $(GO) -C test

# PKG selects the packages of test and race (those below ./test are in the test module). FUZZTIME is
# the time for each fuzz target, CHECKS the cases of each property, RUNS the kills of each database
# in crash, ROWS the rows of bench-logs.
PKG      ?= ./...
FUZZTIME ?= 10s
CHECKS   ?= 1000
RUNS     ?= 250
ROWS     ?= 10000000

OF_PROGRAM = $(strip $(filter-out ./test/%,$(PKG)))
OF_TESTS   = $(strip $(patsubst ./test/%,./%,$(filter ./test/%,$(PKG))) $(filter ./...,$(PKG)))

.DEFAULT_GOAL := help
.PHONY: help run demo build test race e2e suites bench bench-guardrails bench-logs profile crash fuzz properties semantic-eval classifiers check fmt vet lint arch generate clean-tree clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## serve on 127.0.0.1:8787 with everything embedded, data under ./data
	$(BIN) serve

demo: build ## serve with a built-in test provider and a week of generated traffic; does not need an account
	$(BIN) demo --seed-days 7

build: ## build bin/sluice
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/sluice

test: ## all tests; tests that need a missing service are skipped with a reason (REQUIRE_SERVICES=1 fails instead)
	$(if $(OF_PROGRAM),$(GO) test -timeout 30m $(OF_PROGRAM))
	$(if $(OF_TESTS),$(TEST) test -timeout 30m $(OF_TESTS))

race: ## all tests under the race detector
	$(if $(OF_PROGRAM),$(GO) test -race -timeout 1h $(OF_PROGRAM))
	$(if $(OF_TESTS),$(TEST) test -race -timeout 1h $(OF_TESTS))

e2e: ## end-to-end tests of the real binary
	$(TEST) test -count=1 ./e2e/...

suites: ## the test suites of vendor clients, direct and through the gateway (the first run takes minutes)
	SUITES=1 $(TEST) test -count=1 -v -timeout 30m -run '^TestVendorSuites$$' ./e2e

bench: build bench-guardrails ## paired benchmark against the bare upstream and nginx (if installed), cost of translation, start with 100,000 keys, guardrails and cache
	$(TEST) run ./bench
	$(GO) test -run '^$$' -bench . -benchmem ./internal/dialect/registry
	$(GO) test -run '^$$' -bench ManyKeys -benchtime 3x -benchmem ./internal/storage/live

# The packages with benchmarks of guardrails and of the cache: ten checks on 4 KB, an event in a window, an
# exact hit, and a search of 10,000 questions.
GUARDS := ./internal/gateway/guardrails/check ./internal/gateway/guardrails/guardedstream
CACHES := ./internal/gateway/cache ./internal/gateway/cache/cachekey ./internal/gateway/cache/store ./internal/gateway/cache/diskstore ./internal/gateway/cache/semantic/index

bench-guardrails: ## Go benchmarks of guardrail checks, guarded streams, cache hits and semantic search; about a minute
	$(GO) test -run '^$$' -bench . -benchtime 0.5s -benchmem $(GUARDS) $(CACHES)

bench-logs: build ## benchmark of the request log with ROWS generated rows: pages, filters, analytics, ingestion, effect on calls
	$(GO) test -count=1 -timeout 2h -run '^TestManyRows$$' ./internal/storage/requestlog/duckdb -rows $(ROWS) -rounds 20 -ingest 30s -v
	$(TEST) run ./benchlogs --sluice $(CURDIR)/$(BIN) --delay 20ms
	$(TEST) run ./benchlogs --sluice $(CURDIR)/$(BIN)
	$(TEST) run ./benchlogs --sluice $(CURDIR)/$(BIN) --limited --length 28s --rounds 2

# Benchmarks that the PGO profile covers: chats, streams, translations and limits.
PROFILED := chat-1k-c64,stream-burst-c16,stream-10ms-c128,translate-1k-c16,translate-stream-c16,gate-1k-c16

profile: build ## refresh the PGO profile under load (cmd/sluice/default.pgo)
	rm -rf bin/profiles && mkdir -p bin/profiles
	SLUICE_PROFILES=$(CURDIR)/bin/profiles $(TEST) run ./bench --only $(PROFILED) --rounds 1 --length 5s --out ''
	$(GO) tool pprof -proto bin/profiles/*.pprof > cmd/sluice/default.pgo

crash: build ## kill the gateway 500 times under load, on SQLite and PostgreSQL, and verify the ledger after each restart (RUNS each)
	$(TEST) run ./crash --runs $(RUNS)

fuzz: ## run each fuzz target for FUZZTIME
	@grep -rl --include='*_test.go' '^func Fuzz' cmd internal test 2>/dev/null | xargs -r -n1 dirname | sort -u | while read -r dir; do \
	  grep -rhoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' "$$dir"/*_test.go | sed 's/^func //' | while read -r target; do \
	    echo "== $$dir $$target"; \
	    case $$dir in test/*) module=test ;; *) module=. ;; esac; \
	    $(GO) -C $$module test "./$${dir#test/}" -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) </dev/null || exit 1; \
	  done || exit 1; \
	done

properties: ## run each property test with CHECKS new cases
	$(eval PACKAGES := $(shell grep -rl --include='*_test.go' '"pgregory.net/rapid"' internal test *_test.go | xargs -n1 dirname | sort -u | sed 's,^[^.],./&,'))
	RAPID_CHECKS=$(CHECKS) RAPID_NOFAILFILE=1 $(GO) test -count=1 -timeout 2h $(filter-out ./test/%,$(PACKAGES))
	RAPID_CHECKS=$(CHECKS) RAPID_NOFAILFILE=1 $(TEST) test -count=1 -timeout 2h $(patsubst ./test/%,./%,$(filter ./test/%,$(PACKAGES)))

semantic-eval: ## measure the embeddings of a provider on the pairs of the semantic cache (needs SEMANTIC_CACHE_EMBEDDING_API_KEY)
	@test -n "$$SEMANTIC_CACHE_EMBEDDING_API_KEY" || { echo "set SEMANTIC_CACHE_EMBEDDING_API_KEY to the API key of the embedding provider"; exit 1; }
	$(GO) test -run '^TestProvider' -count=1 -v ./internal/gateway/cache/semantic/eval

classifiers: ## train the classifiers of guardrails from the texts in the repository, and measure them again
	$(GO) run ./internal/gateway/guardrails/classify/train
	$(GO) test -count=1 -run '^TestPrecisionAndRecallReachTheFloors$$' ./internal/gateway/guardrails/classify -update

check: fmt vet lint race arch generate clean-tree ## all checks that a change must pass

fmt: ## fail if a file is not formatted with gofmt
	@files=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$files" || { echo "run gofmt on:"; echo "$$files"; exit 1; }

vet: ## go vet, also with the build tags of the benchmark
	$(GO) vet ./...
	$(TEST) vet ./...
	$(GO) vet -tags ungated,unlogged ./internal/app ./internal/gateway

lint: ## golangci-lint, built from tools/go.mod
	$(LINT) run ./...
	cd test && $(GO) tool -modfile=../tools/go.mod golangci-lint run ./...

arch: ## the rules of the repository: imports, dependencies, comments, no init
	$(GO) test -count=1 .

generate: ## regenerate files
	$(GO) generate ./...
	$(TEST) generate ./...

clean-tree: ## fail if the working tree has changes
	@test -z "$$(git status --porcelain)" || { git status --short; echo "the tree is not clean"; exit 1; }

clean: ## remove build output, but not ./data
	rm -rf bin
