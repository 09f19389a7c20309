# `make help` lists the targets. Only Go and a C compiler are needed for `make run`
# and `make test`; what else a target needs it says itself.

GO      ?= go
BIN     := bin/sluice
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
LINT    := $(GO) tool -modfile=tools/go.mod golangci-lint

# The tests of the complete program are a module of their own: the program does not require what
# only they need. TEST runs the go command in it.
TEST := $(GO) -C test

# PKG narrows test and race (packages below ./test are in the module of the tests), FUZZTIME is spent on each fuzz target, CHECKS are the cases of
# each property, RUNS the kills of each database in crash, ROWS the rows of bench-logs.
PKG      ?= ./...
FUZZTIME ?= 10s
CHECKS   ?= 1000
RUNS     ?= 250
ROWS     ?= 10000000

OF_PROGRAM = $(strip $(filter-out ./test/%,$(PKG)))
OF_TESTS   = $(strip $(patsubst ./test/%,./%,$(filter ./test/%,$(PKG))) $(filter ./...,$(PKG)))

.DEFAULT_GOAL := help
.PHONY: help run demo build test race e2e suites bench bench-logs profile crash fuzz properties check fmt vet lint arch generate clean-tree clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## serve on 127.0.0.1:8787 with everything embedded, data under ./data
	$(BIN) serve

demo: build ## serve with a built-in scripted provider and a week of made-up traffic; needs no account anywhere
	$(BIN) demo --seed-days 7

build: ## build bin/sluice
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/sluice

test: ## all tests; tests that need a missing service are skipped with a reason (REQUIRE_SERVICES=1 fails instead)
	$(if $(OF_PROGRAM),$(GO) test -timeout 30m $(OF_PROGRAM))
	$(if $(OF_TESTS),$(TEST) test -timeout 30m $(OF_TESTS))

race: ## all tests under the race detector
	$(if $(OF_PROGRAM),$(GO) test -race -timeout 1h $(OF_PROGRAM))
	$(if $(OF_TESTS),$(TEST) test -race -timeout 1h $(OF_TESTS))

e2e: ## the real binary, driven from outside
	$(TEST) test -count=1 ./e2e/...

suites: ## the tests that vendors generate for their own clients, with and without the gateway between (minutes the first time)
	SUITES=1 $(TEST) test -count=1 -v -timeout 30m -run '^TestVendorSuites$$' ./e2e

bench: build ## paired benchmark against the bare upstream and, when installed, nginx; then what translation costs, and a start with 100,000 keys
	$(TEST) run ./bench
	$(GO) test -run '^$$' -bench . -benchmem ./internal/dialect/registry
	$(GO) test -run '^$$' -bench ManyKeys -benchtime 3x -benchmem ./internal/storage/live

bench-logs: build ## pages, filters and analytics of the request log over ROWS generated rows (ROWS=100000000 is the long form), records that come in meanwhile, and what calls feel of a reader
	$(GO) test -count=1 -timeout 2h -run '^TestManyRows$$' ./internal/storage/requestlog/duckdb -rows $(ROWS) -rounds 20 -ingest 30s -v
	$(TEST) run ./benchlogs --sluice $(CURDIR)/$(BIN) --delay 20ms
	$(TEST) run ./benchlogs --sluice $(CURDIR)/$(BIN)
	$(TEST) run ./benchlogs --sluice $(CURDIR)/$(BIN) --limited --length 28s --rounds 2

# What the compiler is told of, besides chats: streams, translations and limits.
PROFILED := chat-1k-c64,stream-burst-c16,stream-10ms-c128,translate-1k-c16,translate-stream-c16,gate-1k-c16

profile: build ## refresh the PGO profile under load (cmd/sluice/default.pgo)
	rm -rf bin/profiles && mkdir -p bin/profiles
	SLUICE_PROFILES=$(CURDIR)/bin/profiles $(TEST) run ./bench --only $(PROFILED) --rounds 1 --length 5s --out ''
	$(GO) tool pprof -proto bin/profiles/*.pprof > cmd/sluice/default.pgo

crash: build ## kill the gateway 500 times under load, on SQLite and PostgreSQL, and verify the ledger after each restart (RUNS each)
	$(TEST) run ./crash --runs $(RUNS)

fuzz: ## each fuzz target for FUZZTIME
	@grep -rl --include='*_test.go' '^func Fuzz' cmd internal test 2>/dev/null | xargs -r -n1 dirname | sort -u | while read -r dir; do \
	  grep -rhoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' "$$dir"/*_test.go | sed 's/^func //' | while read -r target; do \
	    echo "== $$dir $$target"; \
	    case $$dir in test/*) module=test ;; *) module=. ;; esac; \
	    $(GO) -C $$module test "./$${dir#test/}" -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) </dev/null || exit 1; \
	  done || exit 1; \
	done

properties: ## each property test with CHECKS new cases
	$(eval PACKAGES := $(shell grep -rl --include='*_test.go' '"pgregory.net/rapid"' internal test *_test.go | xargs -n1 dirname | sort -u | sed 's,^[^.],./&,'))
	RAPID_CHECKS=$(CHECKS) RAPID_NOFAILFILE=1 $(GO) test -count=1 -timeout 2h $(filter-out ./test/%,$(PACKAGES))
	RAPID_CHECKS=$(CHECKS) RAPID_NOFAILFILE=1 $(TEST) test -count=1 -timeout 2h $(patsubst ./test/%,./%,$(filter ./test/%,$(PACKAGES)))

check: fmt vet lint race arch generate clean-tree ## everything a change must pass

fmt: ## fail when a file is not gofmt's
	@files=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$files" || { echo "run gofmt on:"; echo "$$files"; exit 1; }

vet: ## go vet, of what only the benchmark builds, too
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

clean-tree: ## fail when git sees a change
	@test -z "$$(git status --porcelain)" || { git status --short; echo "the tree is not clean"; exit 1; }

clean: ## remove what was built (never ./data)
	rm -rf bin
