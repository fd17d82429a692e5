# make demo | make demo FILE=x.realm | make test | make bench | make install PREFIX=/usr/local
# Every verb first makes sure that what it needs is there.

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

.PHONY: all lib demo test test-abi test-c test-swift test-python test-fixtures test-fuzz test-crash test-simulation test-encryption test-threads tsan bench install clean tidy

all: lib

lib:
	@Scripts/need.sh swift cc sodium openssl
	@swift build -c release --product CRealm --quiet
	@ln -sf libCRealm.so $(BUILD)/libCRealm.so.1
	@mkdir -p $(OUT)

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

# Each part prints its own summary; the last line counts the parts.
test: lib
	@Scripts/need.sh python3 pytest
	@Scripts/run-tests.sh

test-abi: lib
	@Scripts/check-abi.sh $(LIB) $$(find .build -path '*release*' -name CRealm-Swift.h | head -1)
	@Scripts/test_abi_check.sh

test-c: lib
	@Scripts/run-c-tests.sh

test-swift:
	@Scripts/need.sh swift sodium openssl
	@swift test --quiet

test-python: lib
	@Scripts/need.sh python3 pytest
	@$(PYTHON) -m pytest -q bindings/python/tests

test-fixtures: lib
	@Scripts/run-fixture-tests.sh

# Longer runs, for before a release.
test-fuzz: lib
	@Tests/Fuzz/run.sh $(SANITIZE) $$(Scripts/fixtures.sh) $(or $(COUNT),20000) $(or $(SEED),1)

# The plain file, then both encrypted forms.
test-crash: lib
	@$(PYTHON) Tests/Crash/run.py $(LIB) --seconds $(or $(SECONDS_),60) --readers 4 --kills 50
	@$(PYTHON) Tests/Crash/run.py $(LIB) --seconds $(or $(SECONDS_),60) --readers 4 --kills 50 --cipher xchacha
	@$(PYTHON) Tests/Crash/run.py $(LIB) --seconds $(or $(SECONDS_),60) --readers 4 --kills 50 --cipher realm
	@Tests/Crash/storm.sh $(LIB) $(or $(KILLS),700)

test-simulation: lib
	@Tests/Simulation/run.sh $(LIB) --long

test-encryption: lib
	@Scripts/run-encryption-tests.sh --long

# The thread tests under ThreadSanitizer; and as they are, with 40 million calls.
tsan:
	@Scripts/need.sh swift sodium openssl
	@Scripts/run-tsan.sh

test-threads: lib
	@$(CC) -std=gnu11 $(CFLAGS) Tests/C/threads_test.c -o $(OUT)/threads_test -L$(BUILD) -lCRealm -Wl,-rpath,$(abspath $(BUILD)) -lpthread
	@$(OUT)/threads_test none $(or $(CALLS),40000000) $(or $(ROUNDS),10000)

bench: lib
	@Scripts/need.sh cc sqlite python3
	@$(PYTHON) Benchmarks/run.py $(LIB) $(or $(N),1000000)

tidy:
	@Scripts/tidy.sh

install: lib
	@install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include
	@install -m 755 $(LIB) $(DESTDIR)$(PREFIX)/lib/libCRealm.so.$(VERSION)
	@ln -sf libCRealm.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/libCRealm.so.1
	@ln -sf libCRealm.so.1 $(DESTDIR)$(PREFIX)/lib/libCRealm.so
	@install -m 644 include/realm.h include/realm_planned.h include/crealm.h $(DESTDIR)$(PREFIX)/include
	@sed -e 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' bindings/c/crealm.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/crealm.pc

clean:
	@rm -rf .build examples/swift/.build
