# gprof-mt: see README.md.  `make help` lists the targets.
#   V=1      show the commands        SAN=address,undefined   sanitized build, under build-SAN/
#   T=GLOB   tests to run (check)     PREFIX= DESTDIR=        where `make install` copies files
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

VERSION := 0.1.0
PREFIX ?= /usr/local
DESTDIR ?=
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
DATADIR ?= $(PREFIX)/share

comma := ,
B := build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)')

CC := gcc
CXX := g++
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-missing-field-initializers -Werror
BASE_CFLAGS := -std=gnu17 -O2 -g $(WARN) -DGM_VERSION='"$(VERSION)"' -Ilibgmon-mt/include -Ilibgmon-mt \
	-Ilibsync-trace/include
SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)

# Each module.mk adds its products to ALL, its test programs to TESTS_BUILD, and its install targets to INSTALLS.
ALL :=
TESTS_BUILD :=
INSTALLS :=

all: all-modules
	@:

include libgmon-mt/module.mk
include libsync-trace/module.mk
include postproc/module.mk
include examples/module.mk
include tests/module.mk

.PHONY: all all-modules install check demo bench fuzz check-apps check-conformance check-robust check-slow check-viewers check-vm check-san lint clean help deps
all-modules: $(ALL)

deps:
	$(Q)tests/install-deps build

# Programs linked with -lgmon_mt start once the loader's cache names the library.
install: all $(INSTALLS)
	$(Q)[ -n "$(DESTDIR)" ] || { \
		PATH=$$PATH:/usr/sbin:/sbin; [ ! -w /etc/ld.so.cache ] || ldconfig; \
		ldconfig -p | grep -qF '=> $(LIBDIR)/libgmon_mt.so' || \
		echo 'make install: the loader does not search $(LIBDIR): link programs with -Wl,-rpath,$(LIBDIR),' \
			'or add it to /etc/ld.so.conf.d and run ldconfig as root'; }

clean:
	$(Q)rm -rf build build-*

help:
	@sed -n '/^## /s/^## //p' Makefile

## make                 build/gprof-mt, and in build/ libgmon_mt.so, libgmon_mt.a, libsync_trace.so, libaccess_trace.so
## make demo            install what is missing, build, profile an example, show the results
## make check           install what the tests need, build, run the tests of ten minutes (T=GLOB selects)
## make check-slow      run the tests that take 20 seconds or more each (tests/slow)
## make check-apps      test real programs, built from Debian's sources
## make check-conformance  glibc's tests of threads and the Open POSIX Test Suite, bare and profiled
## make check-robust    kills, full disks, limits, forks, signals, seccomp, clocks: the program must not be affected
## make check-viewers   open exported files in pprof, KCachegrind and Firefox (installs 700 MB)
## make check-vm        LTTng's kernel tracer, in a virtual machine with Debian's kernel
## make check-san       the tests again, built with AddressSanitizer and UBSan
## make bench           measure the cost, compared with other profilers
## make fuzz            libFuzzer on every reader, two minutes in total (GM_FUZZ_SECONDS=)
## make screenshots     take the pictures of the page in README.md with a browser
## make lint            clang-tidy, cppcheck, shellcheck, eslint, formatting, spelling, subjects of commits
## make install         under PREFIX (default /usr/local), below DESTDIR
-include $(shell find $(B) -path $(B)/apps -prune -o -name '*.d' -print 2>/dev/null)
