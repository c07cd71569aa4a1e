# `make` runs every check; `make help` lists the targets.
#
# Tools are pinned in tools/<name>/go.mod, each in a module of its own so that its
# dependencies never mix with those of the product, and are built into .bin/ once.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := check
.DELETE_ON_ERROR:

# What `coffer --version` says. Both are given from outside where there is no git, as in an image.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell git rev-parse -q --verify HEAD 2>/dev/null || echo unknown)
OUT     ?= .bin/coffer

# The server that tests make their databases on.
export COFFER_TEST_DATABASE_URL ?= postgres://postgres@127.0.0.1:5432/postgres
# The database of `make run`, on the server of the PG… variables.
export PGHOST ?= 127.0.0.1
export PGPORT ?= 5432
export PGUSER ?= postgres
export COFFER_DATABASE_URL ?= postgres://$(PGUSER)@$(PGHOST):$(PGPORT)/coffer
export COFFER_LISTEN ?= 127.0.0.1:8080

FUZZTIME ?= 30s
SDK      ?= ./anthropic
BENCH    ?= ./bench/...
TRANSACTIONS ?= 10000000
MINUTES  ?= 60

MIGRATIONS := internal/platform/pg/migrations
RELEASED   := internal/platform/pg/testdata/released.sha256

# The same source, version and Go release give the same bytes, wherever it is built: no cgo,
# no paths, no version control stamp, no build id. Tools, vet and linters compile with the
# same flags, so that what one compiled the next finds in the cache.
GO    := CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false"
BUILD := $(GO) go build \
	-ldflags "-s -w -buildid= -X coffer/internal/app.Version=$(VERSION) -X coffer/internal/app.Commit=$(COMMIT)"

TOOLS := $(patsubst tools/%/go.mod,.bin/%,$(wildcard tools/*/go.mod))
NODE  := $(patsubst %/package.json,%/node_modules/.package-lock.json,$(wildcard test/*/package.json) web/package.json)

# The web app is built where npm is; WEB=0 leaves it out, and the program then says so on its page.
# Its tools run on the Node that the browser tests bring, where that is installed.
WEB ?= $(if $(shell command -v npm),1,0)
WEBNODE = PATH="$(addsuffix :,$(firstword $(wildcard $(CURDIR)/test/browser/node_modules/node-linux-*/bin)))$$PATH"

# Go files that people write: not those that npm packages bring, nor test data.
GOFILES = find . -name '*.go' -not -path '*/node_modules/*' -not -path '*/testdata/*' -not -path './.bin/*' -print0

##@ Checks

.PHONY: check
check: fmt-check vet lint openapi build sdk packaging test ## all checks (this is what plain `make` does)

.PHONY: fmt-check
fmt-check: .bin/gofumpt ## fail if a Go file is not formatted
	@bad=$$($(GOFILES) | xargs -0r .bin/gofumpt -l); \
	if [ -n "$$bad" ]; then echo "not formatted; run make fmt:" >&2; echo "$$bad" >&2; exit 1; fi

.PHONY: vet
vet: ## go vet, and go.mod as `go mod tidy` leaves it
	go mod tidy -diff
	$(GO) go vet ./...

# What only tests reach: how they steer the simulated banks and models, which the sandbox runs too,
# and the gate's answer to a single call.
TEST_ONLY := ^internal/sim/(banks|models)/|^internal/agents/run/gate.go:.* Route$$

.PHONY: lint
lint: .bin/golangci-lint .bin/deadcode ## linters and dead code
	$(GO) .bin/golangci-lint run ./...
	@dead=$$($(GO) .bin/deadcode ./cmd/... ./bench/... | grep -vE '$(TEST_ONLY)' || true); \
	if [ -n "$$dead" ]; then echo "no program reaches these; remove them, or move them to a test:" >&2; echo "$$dead" >&2; exit 1; fi
	@dead=$$($(GO) .bin/deadcode -test ./...); \
	if [ -n "$$dead" ]; then echo "nothing reaches these, not even a test; remove them:" >&2; echo "$$dead" >&2; exit 1; fi
	@if grep -l '"resolved"' test/*/package-lock.json; then \
		echo "the lock files above name a registry; see test/openapi/.npmrc" >&2; exit 1; fi

.PHONY: openapi
openapi: test/openapi/node_modules/.package-lock.json ## lint the OpenAPI document
	npm --prefix test/openapi run --silent lint -- ../../api/openapi.yaml

.PHONY: packaging
packaging: ## what a release has beside the program: pages of the manual, completions, image
	cd tools/release && go test -vet=off -count=1 ./...

.PHONY: contract
contract: ## fail on a breaking change of the OpenAPI document, or on any of a migration, since BASE (default: the last release)
	@base=$${BASE:-$$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)}; \
	if [ -z "$$base" ]; then echo "no release yet: nothing to keep compatible with"; exit 0; fi; \
	old=$$(mktemp --suffix=.yaml); trap 'rm -f "$$old"' EXIT; \
	$(MAKE) --no-print-directory .bin/oasdiff; \
	if lost=$$(git show "$$base:$(RELEASED)" | grep -vxFf $(RELEASED)); then \
		echo "these migrations are in $$base and may not change; undo it, and add a new migration:" "$$lost" >&2; exit 1; fi; \
	git show "$$base:api/openapi.yaml" > "$$old"; \
	.bin/oasdiff breaking --fail-on ERR "$$old" api/openapi.yaml

# The SDKs are a module of their own. OpenAI's takes minutes to compile, so that one is for long.
.PHONY: sdk
sdk: ## Anthropic's Go SDK against the simulated model server (SDK=./... with OpenAI's too)
	cd test/models && go mod tidy -diff && go test -count=1 $(SDK)

.PHONY: test
test: $(if $(PKG)$(RUN),$(if $(findstring test/,$(PKG)),$(NODE)),$(NODE)) ## all tests; or those of PKG=./internal/notify, or of these RUN='TestA|TestB', without the race detector
ifneq ($(PKG)$(RUN),)
	$(GO) go test -count=1 -timeout 30m -run '$(RUN)' $(or $(PKG),$(error RUN needs PKG, the package or packages: PKG=./internal/app))
else
	go test -race -timeout 80m $$(go list ./... | grep -v /test/)
	$(MAKE) alone play
endif

# Which tests the race detector watches, they say themselves, with calls of package racetest. Of
# internal/app, which plays the whole service, those are the tests of many callers at once; elsewhere
# all but long computations.
ALONE = grep -rl --exclude-dir=racetest 'racetest\.Sequential(t)' --include='*_test.go' internal
ALONE_PACKAGES = $(ALONE) | xargs -n 1 dirname | sort -u | sed 's|^|./|'
ALONE_TESTS = $(ALONE) | xargs awk '/^func /{name=$$2; sub(/[^A-Za-z0-9_].*/, "", name)} /racetest\.Sequential\(t\)/{print name}' | sort -u | paste -sd '|'

.PHONY: unit
unit: ## the tests of every package by itself, with the race detector; not those of race and play
	@failed=0; \
	go list ./... | grep -v -e '/internal/app$$' -e '/test/' \
	| CGO_ENABLED=1 xargs go test -race -vet=off -count=1 -timeout 80m || failed=1; \
	$(MAKE) --no-print-directory alone || failed=1; \
	exit $$failed

.PHONY: race
race: ## the tests of many callers at once, with the race detector
	go test -race -vet=off -count=1 -timeout 80m ./internal/app

.PHONY: alone
alone: ## the tests that are one long computation, without the race detector
	@tests=$$($(ALONE_TESTS)); \
	go test -vet=off -count=1 -timeout 80m -run "^($$tests)$$" $$($(ALONE_PACKAGES))

# go test starts packages in the order in which they are named, as many at once as there are processors.
# The longest come first, so that none of them runs alone at the end.
LONGEST = ./test/browser ./internal/app ./test/whole ./test/crash ./test/hijack

.PHONY: play
play: ## the tests that play the whole service, but for those of race
	COFFER_TEST_RACED=1 go test -vet=off -count=1 -timeout 80m $(LONGEST) ./test/...

# What a change usually breaks, for the time between two edits: the changed packages and the
# contract. BASE is what counts as unchanged. Packages that play the whole service are left to the gate.
.PHONY: quick
quick: .bin/gofumpt ## within 90 s: format, vet, the tests of the packages changed since BASE (HEAD), and the contract
	@base=$${BASE:-HEAD}; \
	changed=$$({ git diff --name-only --diff-filter=d "$$base" -- '*.go'; git ls-files -o --exclude-standard -- '*.go'; } | sort -u); \
	bad=$$(xargs -r .bin/gofumpt -l <<<"$$changed"); \
	if [ -n "$$bad" ]; then echo "not formatted; run make fmt:" >&2; echo "$$bad" >&2; exit 1; fi; \
	$(GO) go vet ./...; \
	packages=$$(xargs -r dirname <<<"$$changed" | sort -u | grep -vxE 'internal/app|test/.*|.*/testdata(/.*)?' | sed 's|^|./|' || true); \
	go test -short -timeout 5m ./internal/archtest $$packages; \
	go test -timeout 5m ./internal/app -run 'Golden|Stories/.*/function'

# A package is compiled for fuzzing once, for all of its targets. A run whose time ends in the middle
# of an input can fail for that alone: it has no failing input then, and is run again.
.PHONY: fuzz
fuzz: ## every fuzz target, or those below PKG, for FUZZTIME (30s), two packages at a time
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	find $(or $(PKG),.) -name '*_test.go' -not -path '*/node_modules/*' -print0 \
	| xargs -0r grep -lE '^func Fuzz' | xargs -n 1 dirname | sort -u \
	| xargs -P 2 -n 1 bash -c 'set -euo pipefail; cd "$$2"; program=$$1/$${2//\//-}; failed=0; \
		$(GO) go test -c -vet=off -fuzz=. -o "$$program" .; \
		for target in $$(grep -hoE "^func Fuzz[A-Za-z0-9_]*" *_test.go | cut -c 6-); do \
			for try in 1 2 3; do \
				said=$$("$$program" -test.run "^$$" -test.fuzz "^$$target\$$" -test.fuzztime $(FUZZTIME) -test.parallel 1 \
					-test.fuzzcachedir "$$(go env GOCACHE)/fuzz/coffer/$${2#./}" </dev/null 2>&1) && bad=0 || bad=1; \
				[[ $$bad = 1 && $$said == *"context deadline exceeded"* && $$said != *"Failing input"* ]] || break; \
			done; \
			printf "== %s %s\n%s\n" "$$2" "$$target" "$$said"; [[ $$bad = 0 ]] || failed=1; \
		done; \
		exit $$failed' fuzz "$$dir"

.PHONY: long
long: $(NODE) ## the rounds that are too long for every change: full tests, ten million transactions, an hour of soak, then 30 minutes of each fuzz target
	COFFER_TEST_LONG=1 go test -race -count=1 -shuffle=on -timeout 12h ./...
	COFFER_TEST_LONG=1 COFFER_TEST_RACED=1 go test -count=1 -shuffle=on -timeout 12h ./internal/app $$($(ALONE_PACKAGES))
	$(MAKE) sdk SDK=./...
	$(MAKE) goals
	$(MAKE) scale
	$(MAKE) soak
	$(MAKE) fuzz FUZZTIME=30m

.PHONY: scale
scale: ## the books at TRANSACTIONS (10000000) transactions; the database is made and dropped, and takes 1.5 GB for each million
	go run ./bench/books --transactions $(TRANSACTIONS) --goals=false

.PHONY: goals
goals: ## the books at a million transactions beside bare PostgreSQL; fails if a goal of bench/books is missed
	go run ./bench/books

.PHONY: soak
soak: ## MINUTES (60) of API, tools and syncs on the real binary: no 5xx, memory, goroutines and descriptors flat
	go run ./bench/soak --minutes $(MINUTES)

.PHONY: vuln
vuln: .bin/govulncheck ## known vulnerabilities in what the binary calls (asks the Go vulnerability database)
	.bin/govulncheck ./...

##@ Work

.PHONY: build
build: $(if $(filter 1,$(WEB)),web) ## the binary with the web app, reproducibly, as .bin/coffer (OUT=, WEB=0 without the app)
	$(BUILD) -o $(OUT) ./cmd/coffer

# goreleaser takes 20 minutes to compile, once.
.PHONY: release
release: web .bin/goreleaser ## everything a release consists of, into dist/ (SNAPSHOT=1 without a tag, SIGN_KEY=, SOURCE=)
	VERSION="$(VERSION)" COMMIT="$(COMMIT)" $(WEBNODE) .ci/release

.PHONY: web
web: web/node_modules/.package-lock.json ## the web app into internal/surface/web/dist/app, which the binary embeds
	cd web && $(WEBNODE) npm run -s build -- --logLevel warn

.PHONY: web-check
web-check: web/node_modules/.package-lock.json ## types, lint and unit tests of the web app
	cd web && $(WEBNODE) npm run -s types && $(WEBNODE) npm run -s lint && $(WEBNODE) npm test -s

.PHONY: texts
texts: web/node_modules/.package-lock.json ## write the catalogue of the web app's texts, and its paths for the server, from its code
	cd web && $(WEBNODE) npm run -s extract

.PHONY: run
run: db build .env ## the server on 127.0.0.1:8080, with a database of its own
	set -a; . ./.env; exec $(OUT) serve

# Screens come from Vite and change as their files are saved. It asks the server on 127.0.0.1:8080 for everything else.
.PHONY: dev
dev: db .env web/node_modules/.package-lock.json ## the database, the server and Vite with the web app, in one; ctrl-c stops all
	$(BUILD) -o $(OUT) ./cmd/coffer
	set -a; . ./.env; set +a; trap 'kill $$(jobs -p) 2>/dev/null || true; wait' EXIT; trap 'exit 130' INT TERM; \
	$(OUT) serve & (cd web && $(WEBNODE) exec node_modules/.bin/vite) & wait -n

.PHONY: db
db: ## make the local database `coffer`, unless it is there
	@psql -XAtq -d postgres -c "select 1 from pg_database where datname = 'coffer'" | grep -q 1 \
	|| { createdb coffer && echo "made database coffer on $(PGHOST):$(PGPORT)"; }

# Settings of `make run`. Made once: with another key, what is sealed stays sealed.
.env:
	@umask 077; printf 'COFFER_ENCRYPTION_KEY=%s\n' "$$(head -c 32 /dev/urandom | base64)" > $@
	@echo "made .env with a new encryption key; keep it safe and out of version control"

# The folder keeps other users of the machine out; the users of the containers read the files.
secrets: ## the secrets of compose.yaml, once
	@mkdir -m 700 $@.new; cd $@.new; umask 022; \
	od -An -N24 -tx1 /dev/urandom | tr -d ' \n' > postgres_password; \
	head -c 32 /dev/urandom | base64 > encryption_key; \
	od -An -N20 -tx1 /dev/urandom | tr -d ' \n' > backup_passphrase; \
	echo "postgres://coffer:$$(cat postgres_password)@db:5432/coffer?sslmode=disable" > database_url; \
	cd ..; mv $@.new $@
	@echo "made secrets/; keep copies of encryption_key and backup_passphrase elsewhere"

.PHONY: fmt
fmt: .bin/gofumpt ## format all Go files
	@$(GOFILES) | xargs -0r .bin/gofumpt -w

.PHONY: api
api: ## write the contract (api/ and the commands' help) from the code; needs no database
	go test ./internal/app -run '^(TestGoldens|TestAccessGolden)$$' -update

.PHONY: release-database
release-database: ## write the database of the schema as it is, which the migrations of later releases are tested on
	go test -count=1 ./internal/app -run '^TestWriteRelease$$' -release

.PHONY: released
released: release-database ## freeze the migrations, in the last commit before the tag of a release
	{ head -n 1 $(RELEASED); cd $(MIGRATIONS) && sha256sum *.sql; } > $(RELEASED).new
	mv $(RELEASED).new $(RELEASED)

.PHONY: update
update: web/codegen/node_modules/.package-lock.json ## write the golden files anew, and the types that the web app has of the API; review the diff
	go test ./internal/platform/pg -run Golden -update
	go test ./internal/books/ledger -run '^TestFactSQL$$' -update
	go test ./internal/app -run "Golden|Stories" -update
	cd web/codegen && npm run -s types

.PHONY: bench
bench: ## run the measuring programs but soak, which has a target (BENCH=./bench/name for one)
	@for p in $$(go list -f '{{if eq .Name "main"}}{{.ImportPath}}{{end}}' $(BENCH) | grep -v '/soak$$'); do \
		echo "== $$p"; go run "$$p"; \
	done

.PHONY: pictures
pictures: web $(NODE) ## the pictures of the README and the guides, of the demo's household in Chromium
	COFFER_TEST_PICTURES=$(CURDIR)/docs/images go test -count=1 ./test/browser -run '^TestPictures$$'

.PHONY: tools
tools: $(TOOLS) ## build the pinned tools into .bin/

.PHONY: node
node: $(NODE) ## install the npm packages that tests use

.PHONY: clean
clean: ## remove what was built or installed (not .env, not the database)
	rm -rf .bin .release dist test/*/node_modules web/node_modules web/codegen/node_modules internal/surface/web/dist/app

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^##@/ { print "\n" substr($$0, 5) } /^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.bin/%: tools/%/go.mod tools/%/go.sum
	@echo "building $* (once)"
	@mkdir -p .bin
	@$(GO) go build -C tools/$* -ldflags "-s -w" -o $(CURDIR)/$@ tool || { \
		echo "$* was not built, for the reason above. If a module was refused, set GOPROXY to a proxy that has it." >&2; exit 1; }

# npm writes this file last; its age says whether the lock file was changed since.
test/%/node_modules/.package-lock.json: test/%/package.json test/%/package-lock.json
	cd test/$* && npm ci --no-audit --no-fund
	@touch $@

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $@

web/codegen/node_modules/.package-lock.json: web/codegen/package.json web/codegen/package-lock.json
	cd web/codegen && npm ci --no-audit --no-fund
	@touch $@
