# Each folder of tests adds the programs that it compiles to TESTS_BUILD. tests/run finds the tests.
include $(wildcard tests/*/module.mk)

# install-deps runs first; a second make then finds the packages that it has installed (pkg-config).
submake = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: check-run tests-build
check:
	$(Q)tests/install-deps check
	$(Q)$(submake) tests-build
	$(Q)$(MAKE) --no-print-directory check-run

tests-build: all $(TESTS_BUILD)
	@:

check-run: tests-build
	$(Q)CC='$(CC)' tests/run -j 2 $(if $(SAN),-a -c -t 1800) -b $(B) $(T)

demo:
	$(Q)tests/install-deps demo
	$(Q)$(submake) all
	$(Q)examples/demo $(B)

lint:
	$(Q)tests/install-deps lint
	$(Q)$(submake) $(PP_GENERATED) $(SYSCALL_NAMES)
	$(Q)tests/lint/run $(B)

check-san:
	$(Q)$(MAKE) --no-print-directory check SAN=address,undefined

check-robust:
	$(Q)tests/install-deps check
	$(Q)$(submake) tests-build
	$(Q)CC='$(CC)' tests/run -b $(B) $(or $(T),robust)

check-slow:
	$(Q)$(MAKE) --no-print-directory check T='$(or $(T),slow)'

check-conformance:
	$(Q)tests/install-deps apps
	$(Q)$(submake) all
	$(Q)CC='$(CC)' tests/conformance/check.py $(B) $(T)

check-vm:
	$(Q)tests/install-deps vm
	$(Q)$(submake) all $(VM_BUILD)
	$(Q)CC='$(CC)' tests/run -b $(B) -t 3000 $(or $(T),vm)

check-viewers:
	$(Q)tests/install-deps viewers
	$(Q)$(submake) tests-build
	$(Q)CC='$(CC)' tests/run -b $(B) $(or $(T),viewers)

check-apps:
	$(Q)tests/install-deps apps
	$(Q)$(submake) all
	$(Q)CC='$(CC)' tests/apps/check $(B) $(T)

# Two builds: one for libFuzzer, and the plain one, whose programs generate the seeds.
FUZZ_SAN := fuzzer-no-link,address,undefined
fuzz:
	$(Q)tests/install-deps fuzz
	$(Q)$(submake) all $(B)/tests/fuzz/replay $(B)/tests/ctf/make_capture
	$(Q)$(submake) CC=clang SAN=$(FUZZ_SAN) build-$(subst $(comma),-,$(FUZZ_SAN))/tests/fuzz/fuzz
	$(Q)tests/fuzz/run build-$(subst $(comma),-,$(FUZZ_SAN)) $(B) $(T)

bench:
	$(Q)tests/install-deps bench
	$(Q)$(submake) all $(BENCH_BUILD)
	$(Q)CC='$(CC)' tests/bench/run -b $(B) $(T)
