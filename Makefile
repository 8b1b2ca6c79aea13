# mirror-bot: `make` alone lists what there is.

SWIFT ?= swift
ARGS ?=
# The libraries that the program links, and the dictionary that it reads, as Debian and Ubuntu name them.
PACKAGES = libarchive-dev libcurl4-openssl-dev libhiredis-dev libmecab-dev libpq-dev libsqlite3-dev libssl-dev mecab-ipadic-utf8 tzdata
# What fails over in `make torture-fleet` and its tests; each version of Postgres has an extension of its own.
FAILOVER_PACKAGES = pg-auto-failover-cli postgresql-$(POSTGRES)-auto-failover
POSTGRES ?= $(or $(lastword $(sort $(notdir $(wildcard /usr/lib/postgresql/*)))),15)
# What tests start besides. Debian starts such servers at every boot, so that nobody gets them for a look at the demo.
TEST_PACKAGES = openssl pgbouncer postgresql redis-server zip
# The busiest targets are optimized, nothing describes itself to a debugger, and no error that is thrown looks for where
# it came from: each pays for itself. Tests that wait for servers would starve each other if all ran at once. The CI sets
# MIRROR_BOT_STRICT, with which our own targets must compile without a warning; users' compilers may be newer.
TESTING = MIRROR_BOT_OPTIMIZED=1 SWT_SWIFT_ERROR_BACKTRACING_ENABLED=0 $\
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8
TEST_BUILD = --quiet -debug-info-format none --explicit-target-dependency-import-check error
TEST = $(TESTING) $(SWIFT) test $(TEST_BUILD)
# Suites in which workers live and die for long: `make check` runs them, `make test` does not.
LONG_SUITES = SecretLifeTests|OutageTests|DatabaseOutageTests|RedisOutageTests|NetworkDayTests|GracefulEndTests|$\
	TourTests
# The crash harness, its tests, the fuzzer's tests and the benchmarks are part of the package for those alone who ask:
# `make test` is faster built without. Workers that are killed in earnest need the machine for themselves, so it skips
# them where they are built.
HARNESSES = MIRROR_BOT_HARNESSES=1
HARNESS_TESTS = ^(TortureTests|FuzzTests)\.
LONG ?=
# The tests of the page that `make check-pages` runs.
PAGE_TESTS = InBrowserTests|\.CrawlTests/
# What `make test` leaves to `make check` and `make check-pages`; without a browser its tests leave themselves out.
SHORT = --skip '\.($(LONG_SUITES)|CrawlTests)/' --skip '$(HARNESS_TESTS)'

# The crash harness; `make torture` says more.
KILLS ?= 200
SEED ?= 1
STORE ?= sqlite
NETWORK ?= mastodon
DAYS ?= 30
MIRRORS ?= 200
MINUTES ?= 2

# The benchmark of a fleet; `make bench-fleet` says more.
FLEET ?= 10000
SECONDS ?= 180

# The search for tests that fail now and then; `make test-stress` says more.
RUNS ?= 5
LOAD ?= 4

PAGE_TOOLS = .build/pages-tools

# Where the documented program is built: apart, so that the tests need not be built anew, unless those are built with
# MIRROR_BOT_SYMBOLS too.
DOCS_BUILD ?= .build/docs
# What DocC documents: every target but the C libraries.
DOCUMENTED = $(filter-out CArchive CCrypto CCurl CEmbedded CHiredis CMeCab CPostgres CSQLite,$(notdir $(wildcard Sources/*)))

SOURCES = Sources Tests Benchmarks/Sources Package.swift

.PHONY: help deps swift build build-times demo pictures dist deb release release-check settings test test-stress check \
	check-lives check-harnesses check-bench check-deploy check-pages check-packages \
	try-heroku bench bench-fleet docs lint format torture torture-fleet torture-mutants soak fuzz
# One thing after the other: apt and Swift each let no second one in, and Swift uses every processor by itself.
.NOTPARALLEL:

deps test test-stress check-lives check-harnesses check-bench try-heroku torture torture-fleet torture-mutants soak bench bench-fleet: PACKAGES += $(TEST_PACKAGES)
torture-fleet torture-mutants: PACKAGES += $(FAILOVER_PACKAGES)

# Installs with apt what is missing of PACKAGES, to which targets that need more add it. Recipes begin with this: Swift is
# a prerequisite, so that it is looked for before apt installs anything.
define install
@missing=""; \
for package in $(PACKAGES); do \
	dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'install ok installed' || missing="$$missing $$package"; \
done; \
if [ -z "$$missing" ]; then exit 0; fi; \
command -v apt-get >/dev/null || { echo "could not install$$missing: no apt-get here; install them by hand" >&2; exit 69; }; \
sudo=""; if [ "$$(id -u)" != 0 ]; then sudo="sudo"; fi; \
echo "installing with apt:$$missing"; \
$$sudo apt-get update -q >/dev/null && \
$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing >/dev/null
endef

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Install with apt what building and testing need
	$(install)
	@echo "system packages: all there"

swift:
	@command -v $(SWIFT) >/dev/null || { echo "could not find swift: install Swift 6.3 from https://www.swift.org/install" >&2; exit 69; }

build: swift ## Build the release binary, without debug information
	$(install)
	$(SWIFT) build -c release -debug-info-format none --product mirror-bot

FIRST_BUILD = compiling some 150 modules, once for the demo and the tests: about ten minutes on two processors

demo: swift ## Watch a mirror live three days in seconds; ARGS=--web in a browser, ARGS="--days 7 --json"
	$(install)
	@test -e .build/debug/mirror-bot || echo "$(FIRST_BUILD)" >&2
	$(TESTING) $(SWIFT) build $(TEST_BUILD) --product mirror-bot
	@.build/debug/mirror-bot demo $(ARGS)

# What `make build-times` builds from nothing.
BUILD ?= demo
BUILD_OF_demo = env $(TESTING) $(SWIFT) build $(TEST_BUILD) --product mirror-bot
BUILD_OF_test = env $(TESTING) $(SWIFT) build $(TEST_BUILD) --build-tests
BUILD_OF_release = $(SWIFT) build --quiet -c release -debug-info-format none --product mirror-bot
BUILD_OF_worker = env MIRROR_BOT_WORKER_ONLY=1 $(BUILD_OF_release)

build-times: PACKAGES += python3
build-times: swift ## Tell how long each module takes to compile from nothing; BUILD=demo, test, release or worker
	$(install)
	@python3 Tests/Build/times.py .build/times/$(BUILD) $(BUILD_OF_$(BUILD))

pictures: PACKAGES += chromium fonts-dejavu-core fonts-ipafont-gothic
pictures: swift ## Take the pictures of README.md anew: the demo in a browser without a window
	$(install)
	MIRROR_BOT_BROWSER=chromium MIRROR_BOT_SCREENSHOTS=$(CURDIR)/docs/pictures $(TEST) --filter DemoInBrowserTests

dist: PACKAGES += patchelf python3 binutils
dist: build ## Pack the program for machines without Swift, in .build/dist
	$(install)
	@deploy/dist.sh

deb: PACKAGES += dpkg-dev
deb: dist ## Make a Debian package of that
	$(install)
	@deploy/deb.sh

release-check:
	@deploy/release.sh check

release: release-check deb ## Make archive, package, source and sums of a release, in .build/release-VERSION
	@deploy/release.sh pack

test: swift ## Run the tests, with real Postgres, Redis and MeCab; ARGS="--filter Outbox"
	$(install)
	$(TEST) $(SHORT) $(ARGS)

settings: swift ## Make the tables of docs/settings.md, .env.example and app.json anew from the table of settings
	$(install)
	MIRROR_BOT_WRITE_SETTINGS=1 $(TEST) --filter SettingDocumentsTests

test-stress: PACKAGES += python3
test-stress: swift ## Run the tests RUNS=5 times beside LOAD=4 busy loops, in another order and width each time; SEED=1
	$(install)
	$(TESTING) $(SWIFT) build --build-tests $(TEST_BUILD)
	@$(TESTING) RUNS=$(RUNS) LOAD=$(LOAD) SEED=$(SEED) SWIFT=$(SWIFT) \
		FLAGS="$(TEST_BUILD) --explicit-target-dependency-import-check error" \
		python3 Tests/Stress/stress.py $(SHORT) $(ARGS)

check: check-lives $(if $(LONG),,check-harnesses) ## Run the long tests: workers that live and die, the harnesses; LONG=TourTests for one suite

check-lives: swift
	$(install)
	$(HARNESSES) $(TEST) --filter '\.($(or $(LONG),$(LONG_SUITES)))/' $(ARGS)

check-harnesses: swift
	$(install)
	$(HARNESSES) $(TEST) --filter '$(HARNESS_TESTS)' $(ARGS)

check-deploy: PACKAGES += haproxy mandoc nginx-light openssl python3-venv shellcheck systemd
check-deploy: swift ## Check what platforms deploy with, and run the Procfile; ARGS="heroku" for one check
	$(install)
	@# As platforms build it.
	$(HARNESSES) $(TESTING) MIRROR_BOT_WORKER_ONLY=1 $(SWIFT) build $(TEST_BUILD) --product mirror-bot
	$(HARNESSES) $(TESTING) $(SWIFT) build $(TEST_BUILD) --product Torture
	@mkdir -p .build/deploy && deploy/check.sh $(ARGS)

# What checks them comes from PyPI into a folder of its own, made again when the list has changed.
check-pages: PACKAGES += chromium fonts-dejavu-core fonts-ipafont-gothic python3-venv
check-pages: swift ## Look at the pages in a browser without a window; pictures of them in .build/pages
	$(install)
	@if ! cmp -s Tests/Pages/requirements.txt $(PAGE_TOOLS)/requirements.txt; then \
		python3 -m venv --clear $(PAGE_TOOLS) && \
		$(PAGE_TOOLS)/bin/pip install -q --disable-pip-version-check -r Tests/Pages/requirements.txt && \
		cp Tests/Pages/requirements.txt $(PAGE_TOOLS); \
	fi
	MIRROR_BOT_BROWSER=chromium MIRROR_BOT_PAGES_PYTHON=$(CURDIR)/$(PAGE_TOOLS)/bin/python \
		MIRROR_BOT_SCREENSHOTS=$(CURDIR)/.build/pages $(TEST) --filter '$(PAGE_TESTS)' $(ARGS)

check-bench: PACKAGES += curl nginx-light python3-venv sqlite3
check-bench: swift ## Run every line of the benchmarks with tiny data; ARGS="--filter learn" for some
	$(install)
	$(HARNESSES) $(TESTING) $(SWIFT) build $(TEST_BUILD) --product mirror-bot
	$(HARNESSES) $(TESTING) $(SWIFT) build $(TEST_BUILD) --product Benchmarks
	@.build/debug/Benchmarks --smoke --json $(ARGS)

check-packages: PACKAGES += debootstrap lintian python3-venv
check-packages: deb ## Try the archive and the Debian package in clean folders; as root, ARGS="dist" for one of them
	$(install)
	@mkdir -p .build/deploy && PROGRAMS=.build/release deploy/check.sh $(or $(ARGS),libraries dist deb)

try-heroku: PACKAGES += debootstrap python3
try-heroku: swift ## Deploy as Heroku does, with the real buildpacks in a clean folder; as root, ARGS="--help"
	$(install)
	$(HARNESSES) $(SWIFT) build --quiet --product Torture
	@deploy/heroku/try.sh $(ARGS)

torture: swift ## Kill the worker KILLS=200 times and compare the ledgers; SEED=1 STORE=sqlite|postgres|cluster NETWORK=mastodon
	$(install)
	$(HARNESSES) $(SWIFT) build --product mirror-bot
	$(HARNESSES) $(SWIFT) run --quiet Torture run --kills $(KILLS) --seed $(SEED) --store $(STORE) \
		--network $(NETWORK) $(ARGS)

torture-fleet: KILLS = 300
torture-fleet: swift ## Kill workers that share MIRRORS=200 and fail over their stores, KILLS=300 times, beside workers with a wrong key and without network; SEED=1 ARGS=--without-unable, ARGS="--mode single --mirrors 3" or ARGS="--upgrade-from PROGRAM --mirrors 4"
	$(install)
	$(HARNESSES) $(SWIFT) build --product mirror-bot
	$(HARNESSES) $(SWIFT) run --quiet Torture crew --kills $(KILLS) --seed $(SEED) --mirrors $(MIRRORS) $(ARGS)

torture-mutants: swift ## Show that the crash harness finds planted mistakes
	$(install)
	@FOLDER=$(CURDIR)/.build/mutants sh Tests/Torture/Mutants/run.sh $(ARGS)

fuzz: swift ## Feed broken input to every parser for MINUTES=2; TARGET=name for one
	$(install)
	@MINUTES=$(MINUTES) TARGET=$(TARGET) SWIFT=$(SWIFT) bash Tests/Fuzz/fuzz.sh

soak: swift ## Live through DAYS=30 in the sandbox and watch memory, descriptors and rows
	$(install)
	$(HARNESSES) $(SWIFT) run --quiet Torture soak --days $(DAYS) $(ARGS)

bench: swift ## Measure the hot paths beside C and public tools; ARGS="--json --quick --filter tokenise"
	$(install)
	$(SWIFT) build -c release -debug-info-format none --quiet --product mirror-bot
	$(HARNESSES) $(SWIFT) build -c release -debug-info-format none --quiet --product Benchmarks
	@.build/release/Benchmarks $(ARGS)

bench-fleet: swift ## Measure workers with FLEET=10000 mirrors for SECONDS=180 each; ARGS="--smoke", "--measures day,one --json"
	$(install)
	$(SWIFT) build -c release -debug-info-format none --quiet --product mirror-bot
	$(HARNESSES) $(SWIFT) build -c release -debug-info-format none --quiet --product CurlLoop
	$(HARNESSES) $(SWIFT) build -c release -debug-info-format none --quiet --product Torture
	@.build/release/Torture fleet --mirrors $(FLEET) --seconds $(SECONDS) $(ARGS)

docs: swift ## Make the documentation of every target with DocC, in .build/docs; a warning is an error
	$(install)
	@mkdir -p .build/docs/symbols
	MIRROR_BOT_SYMBOLS=$(CURDIR)/.build/docs/symbols $(TESTING) $(SWIFT) build $(TEST_BUILD) \
		--scratch-path $(DOCS_BUILD) --product mirror-bot
	@bad=0; for target in $(DOCUMENTED); do \
		rm -rf .build/docs/$$target; mkdir -p .build/docs/$$target; \
		cp .build/docs/symbols/$$target.symbols.json .build/docs/symbols/$$target@*.symbols.json \
			.build/docs/$$target 2>/dev/null; \
		docc convert --additional-symbol-graph-dir .build/docs/$$target --fallback-display-name $$target \
			--fallback-bundle-identifier mirror-bot.$$target --warnings-as-errors \
			--disable-parameters-and-returns-validation \
			--output-path .build/docs/$$target.doccarchive || bad=1; \
	done; exit $$bad

lint: PACKAGES += python3
lint: swift ## Check the format of every Swift file, and what depends on what
	$(install)
	$(SWIFT) format lint --strict --recursive $(SOURCES)
	python3 Tests/Structure/check.py
	python3 Tests/Structure/sentences.py

format: swift ## Bring every Swift file into that format
	$(SWIFT) format --in-place --recursive $(SOURCES)
