# make demo    the main job: sets up, builds, runs OLSR on the real network, one table, a report
# make test    sets up, builds, runs every test; the last line counts them
# make build   sets up, builds the product; the command is build/viaduct
# make benchmarks   builds the programs of viaduct bench
# make lint    formats, clang-tidy on what changed (LINT_ALL=1: on all), locks, ruff, layers, house
# make asan tsan   the unit tests under sanitizers (tsan: of the rooms that start threads)
# make fuzz    every fuzz target for FUZZ_SECONDS each
# make kernel  the kernel that simulated nodes run, into the cache (make test does it too)
# make install PREFIX=/usr/local [DESTDIR=...]   what was built; make package: Debian packages of it
# make package-test   installs, tries and removes these in a clean Debian
# make wheel   a binary wheel for pip and a source distribution, in build/dist; make wheel-test: tries it in clean Debians
# make release   wheel, source distribution, source archive, Debian packages, checksums, in build/release: the same
#              bytes from the same commit
# make site    the documentation as a site, in build/site
# make setup clean
# Everything is repeatable; sudo is asked where root is needed and the user is not root.
MAKEFLAGS += --no-print-directory
SUDO := $(shell [ `id -u` = 0 ] || echo sudo)
JOBS ?= $(shell nproc)
DEMO_DURATION ?= 10s
DEMO_REPORT ?= report-demo
FUZZ_SECONDS ?= 20
TEST_ARGUMENTS ?=

PREFIX ?= /usr/local

.PHONY: install package package-test wheel wheel-test release
.PHONY: site build all benchmarks demo test kernel lint setup clean asan tsan fuzz

build: setup
	@setup/configure release product
	@cmake --build build -j $(JOBS) --target product
	@echo "built: build/viaduct"

# With tests and benchmarks.
all: setup
	@setup/packages optional test
	@setup/configure release
	@cmake --build build -j $(JOBS)

benchmarks: all

setup:
	@setup/packages
	@setup/ns3-kit
	@setup/uplot

install:
	@[ -e build/viaduct-guest ] || { echo "install: not everything is built (make demo builds only its own programs); make build first" >&2; exit 2; }
	@cmake --install build --prefix $(PREFIX)

package: setup
	@setup/packages optional package
	@setup/configure release product
	@cmake --build build -j $(JOBS) --target product
	@cmake --build build -j $(JOBS) --target package
	@lintian --fail-on error --tag-display-limit 3 build/packages/*.deb
	@ls build/packages/*.deb

package-test: package
	@$(SUDO) packaging/try-packages build/packages

wheel: setup
	@setup/packages optional package
	@setup/configure release product
	@cmake --build build -j $(JOBS) --target product
	@packaging/wheel/make build/dist

wheel-test: wheel
	@$(SUDO) packaging/wheel/try build/dist

release: setup
	@setup/packages optional package
	@packaging/release build/release

demo: setup
	@setup/configure release product
	@cmake --build build -j $(JOBS) --target viaduct viaduct-load viaduct-sim
	@setup/demo --duration $(DEMO_DURATION) --report $(DEMO_REPORT)

test: all
	@setup/kernel
	@$(SUDO) tests/run-tests $(TEST_ARGUMENTS)

kernel: build
	@setup/kernel

lint: all
	@setup/packages lint
	@setup/lint

asan: SANITIZED = unit_tests
tsan: SANITIZED = thread_tests
asan tsan:
	@setup/packages build optional test
	@setup/configure $@
	@cmake --build build-$@ -j $(JOBS) --target $(SANITIZED)
	@tests/run-tests --build build-$@ --only unit

fuzz:
	@setup/packages build fuzz
	@setup/configure fuzz
	@cmake --build build-fuzz -j $(JOBS) --target fuzz_targets
	@tests/run-tests --build build-fuzz --only fuzz --fuzz-seconds $(FUZZ_SECONDS)

site:
	@setup/site

clean:
	rm -rf build build-* report-demo
