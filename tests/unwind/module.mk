# A library that compares the unwinder with libunwind, in the programs that preload it.
UNWIND_WITNESS := $(B)/tests/unwind/witness.so
UNWIND_RUNTIME_OBJ := $(filter-out %/unload.o %/interpose.o,$(RUNTIME_OBJ))
TESTS_BUILD += $(shell pkg-config --exists libunwind 2>/dev/null && echo $(UNWIND_WITNESS))

$(UNWIND_WITNESS): tests/unwind/programs/witness.c $(UNWIND_RUNTIME_OBJ)
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) -D_GNU_SOURCE -fPIC -fvisibility=hidden -shared -MMD -MP -MF $@.d -MT $@ -o $@ $< \
		$(UNWIND_RUNTIME_OBJ) -lunwind

UNWIND_BENCH := $(B)/tests/bench/bench_unwind
BENCH_BUILD += $(shell pkg-config --exists libunwind 2>/dev/null && echo $(UNWIND_BENCH))

$(UNWIND_BENCH): tests/bench/bench_unwind.c $(UNWIND_RUNTIME_OBJ)
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) -D_GNU_SOURCE -fomit-frame-pointer -MMD -MP -MF $@.d -MT $@ -o $@ $< \
		$(UNWIND_RUNTIME_OBJ) -lunwind -pthread

# Single-steps a library; compares call paths with the calls and returns that were executed. Libraries find its
# step_stack() and __cxa_finalize() (unload.c).
STEPPER := $(B)/tests/unwind/stepper
TESTS_BUILD += $(STEPPER)

$(STEPPER): $(wildcard tests/unwind/programs/stepper/*.c) $(filter-out %/interpose.o,$(RUNTIME_OBJ))
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) -D_GNU_SOURCE -Itests/unwind/programs/stepper -fvisibility=hidden -MMD -MP -MF $@.d \
		-MT $@ -o $@ $(filter %.c %.o,$^) -rdynamic -Wl,-z,now
