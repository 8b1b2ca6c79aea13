# mirror-bot: `make` alone lists what there is.

SWIFT ?= swift
ARGS ?=
# What the tests and the program link and start, as Debian and Ubuntu name it.
PACKAGES = libcurl4-openssl-dev libpq-dev libhiredis-dev libmecab-dev mecab-ipadic-utf8 libsqlite3-dev \
	libarchive-dev pkg-config postgresql pgbouncer redis-server openssl zip
# Our own targets must compile without a warning; users' compilers may be newer. The busiest are optimized, nothing
# describes itself to a debugger, and no error that is thrown looks for where it came from: each pays for itself. Tests
# that wait for servers would starve each other if all ran at once.
TESTING = MIRROR_BOT_STRICT=1 MIRROR_BOT_OPTIMIZED=1 SWT_SWIFT_ERROR_BACKTRACING_ENABLED=0 $\
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8
TEST_BUILD = --quiet -debug-info-format none
TEST = $(TESTING) $(SWIFT) test $(TEST_BUILD) --explicit-target-dependency-import-check error
# Suites in which workers live and die for long: `make check` runs them, `make test` does not.
LONG_SUITES = SecretLifeTests|OutageTests|DatabaseOutageTests|RedisOutageTests|NetworkDayTests|GracefulEndTests|$\
	TourTests
# The crash harness, its tests and the fuzzer's tests are part of the package for those alone who ask for them:
# `make test` is faster built without.
HARNESSES = MIRROR_BOT_HARNESSES=1
LONG ?=
CHECKED = $(if $(LONG),\.($(LONG))/,^(TortureTests|FuzzTests)\.|\.($(LONG_SUITES))/)

# The crash harness; `make torture` says more.
KILLS ?= 200
SEED ?= 1
STORE ?= sqlite
NETWORK ?= mastodon
DAYS ?= 30
MINUTES ?= 2

# What DocC documents: every target but the C libraries.
DOCUMENTED = $(filter-out CArchive CCurl CHiredis CMeCab CPostgres,$(notdir $(wildcard Sources/*)))

SOURCES = Sources Tests Benchmarks/Sources Package.swift Benchmarks/Package.swift

.PHONY: help deps swift build demo dist deb test check check-deploy check-pages check-packages try-heroku bench \
	docs lint format torture torture-mutants soak fuzz

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Install the system packages with apt, if any is missing
	@missing=""; \
	for package in $(PACKAGES); do \
		dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'install ok installed' || missing="$$missing $$package"; \
	done; \
	if [ -z "$$missing" ]; then echo "system packages: all there"; exit 0; fi; \
	command -v apt-get >/dev/null || { echo "could not install$$missing: no apt-get here; install them by hand" >&2; exit 69; }; \
	sudo=""; if [ "$$(id -u)" != 0 ]; then sudo="sudo"; fi; \
	echo "installing with apt:$$missing"; \
	$$sudo apt-get update -q >/dev/null && \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing >/dev/null

swift:
	@command -v $(SWIFT) >/dev/null || { echo "could not find swift: install Swift 6.3 from https://www.swift.org/install" >&2; exit 69; }

build: deps swift ## Build the release binary, without debug information
	$(SWIFT) build -c release -debug-info-format none --product mirror-bot

demo: build ## Watch a mirror live three days in seconds; ARGS="--days 7 --json"
	@.build/release/mirror-bot demo $(ARGS)

dist: PACKAGES += patchelf python3 binutils
dist: deps build ## Pack the program for machines without Swift, in .build/dist
	@deploy/dist.sh

deb: PACKAGES += dpkg-dev
deb: dist ## Make a Debian package of that
	@deploy/deb.sh

test: deps swift ## Run the tests, with real Postgres, Redis and MeCab; ARGS="--filter Outbox"
	$(TEST) --skip '\.($(LONG_SUITES))/' $(ARGS)

check: deps swift ## Run the long tests: workers that live and die, the harnesses; LONG=TourTests for one suite
	$(HARNESSES) $(TEST) --filter '$(CHECKED)' $(ARGS)

check-deploy: PACKAGES += python3-venv shellcheck systemd mandoc
check-deploy: deps swift ## Check what platforms deploy with, and run the Procfile; ARGS="heroku" for one check
	$(HARNESSES) $(TESTING) $(SWIFT) build $(TEST_BUILD) --product mirror-bot
	$(HARNESSES) $(TESTING) $(SWIFT) build $(TEST_BUILD) --product Torture
	@mkdir -p .build/deploy && deploy/check.sh $(ARGS)

check-pages: PACKAGES += chromium fonts-dejavu-core fonts-ipafont-gothic
check-pages: deps swift ## Look at the pages in a browser without a window; pictures of them in .build/pages
	MIRROR_BOT_BROWSER=chromium MIRROR_BOT_SCREENSHOTS=$(CURDIR)/.build/pages $(TEST) \
		--filter PagesInBrowserTests $(ARGS)

check-packages: PACKAGES += debootstrap lintian python3-venv
check-packages: deb ## Try the archive and the Debian package in clean folders; as root, ARGS="dist" for one of them
	@mkdir -p .build/deploy && PROGRAMS=.build/release deploy/check.sh $(or $(ARGS),libraries dist deb)

try-heroku: PACKAGES += debootstrap python3
try-heroku: deps swift ## Deploy as Heroku does, with the real buildpacks in a clean folder; as root, ARGS="--help"
	$(HARNESSES) $(SWIFT) build --quiet --product Torture
	@deploy/heroku/try.sh $(ARGS)

torture: deps swift ## Kill the worker KILLS=200 times and compare the ledgers; SEED=1 STORE=sqlite|postgres|cluster NETWORK=mastodon
	$(HARNESSES) $(SWIFT) build --product mirror-bot
	$(HARNESSES) $(SWIFT) run --quiet Torture run --kills $(KILLS) --seed $(SEED) --store $(STORE) \
		--network $(NETWORK) $(ARGS)

torture-mutants: deps swift ## Show that the crash harness finds planted mistakes
	@FOLDER=$(CURDIR)/.build/mutants sh Tests/Torture/Mutants/run.sh $(ARGS)

fuzz: deps swift ## Feed broken input to every parser for MINUTES=2; TARGET=name for one
	@MINUTES=$(MINUTES) TARGET=$(TARGET) SWIFT=$(SWIFT) bash Tests/Fuzz/fuzz.sh

soak: deps swift ## Live through DAYS=30 in the sandbox and watch memory, descriptors and rows
	$(HARNESSES) $(SWIFT) run --quiet Torture soak --days $(DAYS) $(ARGS)

bench: deps swift ## Measure the hot paths beside C and public tools; ARGS="--json --quick --filter tokenise"
	$(SWIFT) build -c release --package-path Benchmarks --quiet
	@Benchmarks/.build/release/Benchmarks $(ARGS)

docs: deps swift ## Make the documentation of every target with DocC, in .build/docs; a warning is an error
	@mkdir -p .build/docs/symbols
	MIRROR_BOT_SYMBOLS=$(CURDIR)/.build/docs/symbols $(SWIFT) build --quiet --scratch-path .build/docs --product mirror-bot
	@bad=0; for target in $(DOCUMENTED); do \
		rm -rf .build/docs/$$target; mkdir -p .build/docs/$$target; \
		cp .build/docs/symbols/$$target.symbols.json .build/docs/symbols/$$target@*.symbols.json \
			.build/docs/$$target 2>/dev/null; \
		docc convert --additional-symbol-graph-dir .build/docs/$$target --fallback-display-name $$target \
			--fallback-bundle-identifier mirror-bot.$$target --warnings-as-errors \
			--output-path .build/docs/$$target.doccarchive || bad=1; \
	done; exit $$bad

lint: swift ## Check the format of every Swift file
	$(SWIFT) format lint --strict --recursive $(SOURCES)

format: swift ## Bring every Swift file into that format
	$(SWIFT) format --in-place --recursive $(SOURCES)
