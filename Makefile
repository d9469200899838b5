# `make` alone lists the targets. Go is all that `make run` needs; `make test`
# uses the race detector when there is a C compiler too.

GO ?= go
EXE := $(shell $(GO) env GOEXE)

# Which build this is. Without tags it is "dev", without git "unknown" too.
GIT := GIT_OPTIONAL_LOCKS=0 git
VERSION ?= $(shell $(GIT) describe --tags --match 'v*' --dirty 2>/dev/null || echo dev)
COMMIT ?= $(shell $(GIT) rev-parse --short=12 --verify -q HEAD 2>/dev/null || echo unknown)
LDFLAGS = -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)

# One set of flags for building, linting and generating, so that the dependencies,
# which are most of the work, are compiled once for all of them.
STATIC = CGO_ENABLED=0 GOFLAGS="$(strip $(GOFLAGS) -trimpath -buildvcs=false)"

# What follows `parley` in `make run`.
ARGS ?= serve --http --demo auto

# What to test and with what else, as in `make test PKG=./engine TESTFLAGS='-run Cancel -v'`.
PKG ?= ./...
TESTFLAGS ?=
KILLS ?= 200
PLATFORMS ?= darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# The linters have a module of their own, so that the program's does not carry
# theirs. They are built again when that module or Go changes: a linter cannot
# read a language newer than itself.
TOOLS_BIN := .tools/bin
TOOLS := .tools/built-with-$(shell $(GO) env GOVERSION)

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: build ## start parley over HTTP, with simulated models where there are no keys
	@exec bin/parley$(EXE) $(ARGS)

.PHONY: build
build: ## build bin/parley
	$(STATIC) $(GO) build -ldflags "$(LDFLAGS)" -o bin/parley$(EXE) ./cmd/parley

.PHONY: test
test: ## run all tests, with the race detector if there is a C compiler
	@if why=$$($(GO) build -race runtime/race 2>&1); then race=-race; \
	elif [ "$$CI" = true ]; then \
		printf '%s\n' "$$why" "make test: CI needs the race detector, and that needs cgo and a C compiler" >&2; exit 1; \
	else \
		race=; printf '%s\n' "make test: no usable C compiler, so the tests run WITHOUT the race detector" >&2; \
	fi; \
	set -x; $(GO) test $$race -shuffle=on -timeout 10m $(TESTFLAGS) $(PKG)

.PHONY: test-short
test-short: ## run the quick tests only, without the race detector
	$(GO) test -short -shuffle=on -timeout 5m $(TESTFLAGS) $(PKG)

.PHONY: chaos
chaos: ## kill parley KILLS times (200) in the middle of its work and see that nothing is lost
	$(GO) test ./cmd/parley -run TestChaos -chaos.kills=$(KILLS) -v -count=1 -timeout 20m

.PHONY: bench
bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem $(TESTFLAGS) $(PKG)

.PHONY: lint
lint: $(TOOLS) ## check format, vet, linters, architecture and go.mod
	@unformatted=$$($(TOOLS_BIN)/gofumpt -l .) || exit 1; if [ -n "$$unformatted" ]; then \
		printf 'make lint: not formatted, run "make fmt":\n%s\n' "$$unformatted" >&2; exit 1; fi
	$(STATIC) $(GO) vet ./...
	$(STATIC) $(TOOLS_BIN)/golangci-lint run ./...
	$(GO) mod tidy -diff

.PHONY: fmt
fmt: $(TOOLS) ## format the code
	$(TOOLS_BIN)/golangci-lint fmt ./...

$(TOOLS): tools/go.mod tools/go.sum
	cd tools && $(STATIC) GOWORK=off $(GO) build -o ../$(TOOLS_BIN)/ tool
	@touch $@

.PHONY: generate
generate: ## write the snapshots of the tools and the tables in the README anew
	$(STATIC) $(GO) generate ./...

# What git sees as changed before and after must be the same, so this works in
# the middle of a change as well as on a clean checkout.
CHANGES = { $(GIT) diff; $(GIT) ls-files --others --exclude-standard | while IFS= read -r f; do echo "new: $$f $$($(GIT) hash-object "$$f")"; done; }

.PHONY: check-generated
check-generated: ## fail if something generated is not current
	@$(GIT) rev-parse --git-dir >/dev/null
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT && \
	$(CHANGES) >"$$tmp/before" && $(MAKE) --no-print-directory generate && $(CHANGES) >"$$tmp/after" && \
	{ diff "$$tmp/before" "$$tmp/after" || { echo 'make check-generated: what is generated was not current; look at it and commit it' >&2; exit 1; }; }

# Nobody runs what this builds, so it is not optimised: that takes half the time.
.PHONY: cross
cross: ## build and vet for the other systems
	@for p in $(PLATFORMS); do \
		echo "$$p"; \
		export GOOS=$${p%/*} GOARCH=$${p#*/} $(STATIC); \
		$(GO) build -gcflags='all=-N -l' ./... && $(GO) vet -gcflags='all=-N -l' ./... || exit 1; \
	done

.PHONY: clean
clean: ## remove what was built
	rm -rf bin dist .tools coverage.* *.test *.prof
