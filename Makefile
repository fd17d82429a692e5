# `make help` lists the verbs. Each first makes sure that what it needs is there.

SHELL := /bin/bash
PREFIX ?= /usr/local
VERSION := 0.1.0
BUILD := .build/release
LIB := $(BUILD)/libCRealm.so
OUT := .build/out
CC ?= cc
CFLAGS := -O2 -Wall -Wextra -Werror -Iinclude
PYTHON := $(shell if [ -x .build/venv/bin/python ]; then echo .build/venv/bin/python; else echo python3; fi)
export CREALM_LIBRARY := $(abspath $(LIB))
export PYTHONPATH := $(abspath bindings/python)
export PYTHONDONTWRITEBYTECODE := 1
export SWIFT_BACKTRACE := enable=no

.PHONY: all lib debug help test-one demo test test-abi abi docs lint format test-c test-swift test-realm-swift test-python node test-node rust test-rust go test-go jvm test-jvm test-conformance test-browse wheel deb release-check test-wheel test-fixtures test-fuzz test-crash test-cross test-rescue test-live test-simulation test-encryption test-threads tsan asan bench bench-languages bench-python bench-swift bench-browse bench-sizes sqlite install clean tidy words test-sync demo-sync

all: lib

##   make lib                        the library, .build/release/libCRealm.so
lib:
	@Scripts/need.sh swift cc sodium openssl
	@Scripts/build.sh release

##   make debug                      the same for the quick loop, .build/debug/libCRealm.so
debug:
	@Scripts/need.sh swift cc sodium openssl
	@Scripts/build.sh debug

##   make help                       this list
help:
	@sed -n 's/^##//p' $(MAKEFILE_LIST)
	@echo "CONTRIBUTING.md says how long each takes."

##   make demo [FILE=x.realm]        a database through C, Python and Swift; or the content of a file
demo: lib
	@Scripts/need.sh python3
ifdef FILE
	@$(PYTHON) -m crealm show "$(FILE)"
else
	@rm -rf $(OUT)/demo && mkdir -p $(OUT)/demo
	@$(CC) $(CFLAGS) examples/c/people.c -o $(OUT)/people -L$(BUILD) -lCRealm -Wl,-rpath,$(abspath $(BUILD))
	@swift build --package-path examples/swift --scratch-path .build/examples --quiet
	@$(OUT)/people $(OUT)/demo/people.realm
	@$(PYTHON) examples/python/people.py $(OUT)/demo/people.realm
	@.build/examples/debug/people $(OUT)/demo/people.realm
endif

##   make test-one T=name [CONFIG=release]
##                                   one C, Swift or Python test, by file or function; with the debug library
test-one:
	@Scripts/need.sh swift cc sodium openssl python3 pytest
	@Scripts/test-one.sh "$(T)" "$(or $(CONFIG),debug)"

##   make test                       everything but the long runs
# Each part prints its own summary; the last line counts the parts.
test: lib
	@Scripts/need.sh python3 pytest
	@$(PYTHON) Scripts/run-tests.py

##   make test-abi                   exports and signatures against the headers
test-abi: lib
	@Scripts/check-abi.sh $(LIB) $$(find .build -path '*release*' -name CRealm-Swift.h | head -1)
	@Scripts/test_abi_check.sh

##   make abi [RELEASE=0.1.0]        exports and headers against the list of the last release (docs/abi); or keeps the list of a release
abi: lib
ifdef RELEASE
	@Scripts/abi_releases.py write $(RELEASE)
else
	@Scripts/abi_releases.py check $(LIB)
endif

##   make docs                       the C headers as HTML and man pages, the pages of the Python package and of the Swift API, in .build/docs
docs:
	@Scripts/need.sh doxygen python3
	@Scripts/docs.sh
	@Scripts/python-docs.sh
	@Scripts/swift-docs.sh

##   make test-c                     the C programs in Tests/C
test-c: lib
	@Scripts/run-c-tests.sh

##   make test-swift                 the engine's own tests
test-swift:
	@Scripts/need.sh swift sodium openssl
	@swift test --quiet
	@Scripts/check_refusals.py
	@Scripts/check_swift_articles.py
	@Scripts/check_macros.py

##   make test-realm-swift REALM_SWIFT=…
##                                   the tests of Realm's Swift package, from a checkout of it (docs/realmswift-tests.md)
test-realm-swift:
	@Scripts/need.sh swift sodium openssl python3
	@Tests/RealmOwn/run.py "$(REALM_SWIFT)"

##   make test-python                the Python package
test-python: lib
	@Scripts/need.sh python3 pytest
	@$(PYTHON) -m pytest -q bindings/python/tests

##   make node                       the addon of the Node package, .build/node/crealm.node
node: lib
	@Scripts/need.sh cc
	@Scripts/node.sh build

##   make test-node                  the Node package
test-node: lib
	@Scripts/need.sh cc
	@Scripts/node.sh test

##   make rust                       the crates of the Rust package, in .build/rust
rust: lib
	@Scripts/need.sh cc python3
	@Scripts/rust.sh build

##   make test-rust                  the Rust package
test-rust: lib
	@Scripts/need.sh cc python3
	@Scripts/rust.sh test

##   make go                         the Go package
go: lib
	@Scripts/need.sh cc
	@Scripts/go.sh build

##   make test-go                    the Go package, with the race detector
test-go: lib
	@Scripts/need.sh cc
	@Scripts/go.sh test

##   make test-conformance           the suite of all languages, with the Python package (Tests/Conformance)
test-conformance: lib
	@Scripts/need.sh python3
	@$(PYTHON) Tests/Conformance/run.py

##   make jvm                        the Java package and its JNI library, in .build/jvm; with Kotlin: KOTLIN=folder of jars (docs/jvm.md)
jvm: lib
	@Scripts/need.sh cc
	@Scripts/jvm.sh build

##   make test-jvm                   the Java package, and the Kotlin layer if KOTLIN is set
test-jvm: lib
	@Scripts/need.sh cc
	@Scripts/jvm.sh test

##   make test-browse                journeys through the pages of `crealm browse`, in a real web client; pictures in .build/browse
test-browse: lib
	@Scripts/need.sh python3 pytest
	@Scripts/test-browse.sh

##   make wheel                      the Python package for pip, with the library inside, in .build/wheel; and its sdist
wheel:
	@Scripts/need.sh swift cc sodium openssl python3
	@Scripts/wheel.sh

##   make deb [TRY=--try]            Debian packages of library, headers and command line, in .build/deb; TRY: used in a Debian without Swift
deb: lib
	@Scripts/deb.sh $(LIB) $(VERSION) $(TRY)

##   make release-check              all that a release needs, made and checked, in .build/dist; builds twice
release-check: lib
	@Scripts/need.sh swift cc sodium openssl python3 pkg-config
	@Scripts/release-check.sh $(VERSION) $(WITHOUT)

##   make test-wheel [WITH=python3]  that wheel in a fresh environment, with the package's tests
test-wheel:
	@Scripts/need.sh swift cc sodium openssl python3
	@Scripts/test-wheel.sh --all $(WITH)

##   make test-fixtures              files of other engines, histories
test-fixtures: lib
	@Scripts/run-fixture-tests.sh

# Longer runs, for before a release.
##   make test-fuzz [COUNT=20000] [SANITIZE=--sanitize]
##                                   damaged files and queries
test-fuzz: lib
	@Tests/Fuzz/run.sh $(SANITIZE) $$(Scripts/fixtures.sh) $(or $(COUNT),20000) $(or $(SEED),1)

##   make test-rescue [COUNT=5000]   salvage and deleted objects, long
test-rescue: lib
	@$(PYTHON) Tests/Rescue/salvage.py $(LIB) --count $(or $(COUNT),5000) --histories 40
	@for cipher in xchacha20 aes256gcm realm; do $(PYTHON) Tests/Rescue/salvage.py $(LIB) --count 500 --cipher $$cipher; done
	@$(PYTHON) Tests/Rescue/deleted.py $(LIB) --count 200
	@$(PYTHON) Tests/Rescue/fuzz.py $(LIB) $$(Scripts/fixtures.sh) --count $(or $(COUNT),5000)

##   make test-crash [SECONDS_=60]   killed writers, long
# The plain file, then both encrypted forms.
test-crash: lib
	@$(PYTHON) Tests/Crash/run.py $(LIB) --seconds $(or $(SECONDS_),60) --readers 4 --kills 50
	@$(PYTHON) Tests/Crash/run.py $(LIB) --seconds $(or $(SECONDS_),60) --readers 4 --kills 50 --cipher xchacha
	@$(PYTHON) Tests/Crash/run.py $(LIB) --seconds $(or $(SECONDS_),60) --readers 4 --kills 50 --cipher realm
	@Tests/Crash/storm.sh $(LIB) $(or $(KILLS),700)

##   make test-cross [SECONDS_=600]   eight processes in all languages on one file, killed at any time, long
test-cross: lib
	@CREALM_LIBRARY=$(abspath $(LIB)) $(PYTHON) Tests/Cross/run.py --seconds $(or $(SECONDS_),600)

##   make test-live [SECONDS_=600]   writers and observers in C, Python and Swift, killed at any time, long
test-live: lib
	@$(PYTHON) Tests/Live/run.py $(BUILD) --seconds $(or $(SECONDS_),600)

##   make test-simulation            simulated machines, long
test-simulation: lib
	@Tests/Simulation/run.sh $(LIB) --long

##   make test-sync                  synchronisation: simulated devices; a real PostgreSQL where it is installed; killed devices, long
test-sync: lib
	@Scripts/need.sh python3 pytest
	@Scripts/sync-tools.sh
	@swift build --quiet --product realm-swift-sync
	@Tests/Sync/run.sh $(LIB) --long

##   make demo-sync                  two programs, a SQL client and a laptop that was offline share objects
demo-sync: lib
	@Scripts/need.sh python3 pytest
	@Scripts/sync-tools.sh
	@$(PYTHON) examples/sync/demo.py

##   make test-encryption            both encrypted forms, long
test-encryption: lib
	@Scripts/run-encryption-tests.sh --long

##   make tsan, make asan            tests of threads, closing, notifications, asynchronous writes, frozen realms under a sanitizer
tsan:
	@Scripts/need.sh swift sodium openssl
	@Scripts/run-sanitizer.sh thread

asan:
	@Scripts/need.sh swift sodium openssl
	@Scripts/run-sanitizer.sh address

##   make test-threads               threads: 40 million calls
test-threads: lib
	@$(CC) -std=gnu11 $(CFLAGS) Tests/C/threads_test.c -o $(OUT)/threads_test -L$(BUILD) -lCRealm -Wl,-rpath,$(abspath $(BUILD)) -lpthread
	@$(OUT)/threads_test none $(or $(CALLS),40000000) $(or $(ROUNDS),10000)

##   make bench [N=1000000] [KEEP=1] docs/benchmarks.md for this machine; KEEP puts it there
bench: lib
	@Scripts/need.sh cc sqlite python3
	@$(PYTHON) Benchmarks/run.py $(LIB) $(or $(N),1000000) $(if $(REFERENCE),--reference $(REFERENCE)) $(if $(KEEP),--keep)

##   make bench-sizes [N=100000] [KEEP=1]
##                                   how far a file grows over 20,000 small commits, and what each writes
bench-sizes: lib
	@Scripts/need.sh cc python3
	@$(PYTHON) Benchmarks/sizes.py $(LIB) $(or $(N),100000) --encrypted $(if $(REFERENCE),--reference $(REFERENCE)) $(if $(KEEP),--keep)

##   make bench-browse [N=1000000]   how fast the pages of `crealm browse` are on a large file
bench-browse: lib
	@Scripts/need.sh python3 pytest
	@$(PYTHON) Benchmarks/browse.py $(or $(N),1000000)

##   make bench-languages [N=200000] [KEEP=1]
##                                   the packages of all installed languages, each beside the SQLite of its language;
##                                   KEEP puts the table into docs/languages-benchmarks.md
bench-languages: lib
	@Scripts/need.sh cc python3
	@CREALM_LIBRARY=$(abspath $(LIB)) $(PYTHON) Benchmarks/languages.py $(or $(N),200000) --rounds $(or $(ROUNDS),5) $(if $(KEEP),--keep)

##   make bench-python [N=1000000]   the Python package beside sqlite3 and, where they are installed, duckdb and peewee
bench-python: lib
	@CREALM_LIBRARY=$(abspath $(LIB)) $(PYTHON) Benchmarks/bench_python.py $(or $(N),1000000) $(or $(ROUNDS),5)

##   make bench-swift [N=1000000]    RealmSwift: properties, results[i], and all objects beside a loop of sqlite3_step
bench-swift:
	@Scripts/need.sh swift sodium openssl sqlite
	@swift run -c release --package-path Benchmarks/RealmSwift --scratch-path .build/typed-access TypedAccess $(or $(N),1000000)

##   make words                      writes the lists of the query language's words of Python and the Browser
words:
	@$(PYTHON) Scripts/words.py

##   make tidy                       the structure: layers, entry points, comments that lead to documents
tidy:
	@Scripts/tidy.sh

##   make lint                       the format of the Swift files
lint:
	@Scripts/need.sh swift
	@Scripts/lint.sh

##   make format                     puts right what lint finds, where it can
format:
	@Scripts/need.sh swift
	@Scripts/lint.sh --correct

##   make sqlite                     the SQLite extension that shows realm files as tables, in .build/sqlite
sqlite: lib
	@Scripts/need.sh cc sqlite
	@Scripts/sqlite.sh $(LIB)

##   make install [PREFIX=/usr/local] [DESTDIR=]
##                                   library, headers, files for pkg-config and CMake
install: lib
	@Scripts/install.sh $(LIB) $(VERSION) $(PREFIX) $(DESTDIR)

##   make clean                      removes what was built
clean:
	@rm -rf .build .build-tsan .build-asan examples/swift/.build
