# The readers as functions of bytes: a plain program for `make check`, a libFuzzer program for `make fuzz`.
# `sweep` belongs to the commands, which libpostproc.a does not contain; clang does not know all flags of the runtime.
FUZZ_SRC := tests/fuzz/targets.c tests/fuzz/campaign.c tests/ctf/fixture.c \
	tests/pass/event_text.c tests/pass/access_text.c \
	$(PP_RUNTIME_OBJ:$(B)/obj/%.o=%.c)
FUZZ_CLI_OBJ := $(filter-out %/cli/main.o $(PP_RUNTIME_OBJ),$(PP_CLI_OBJ))
TESTS_BUILD += $(B)/tests/fuzz/replay

# The .d files of older builds name sources in folders that no longer exist.
libgmon-mt/runtime/%.c: ;

FUZZ_CFLAGS = $(PP_CFLAGS) -Itests/ctf -Itests/pass

$(B)/tests/fuzz/replay: tests/fuzz/replay.c $(FUZZ_SRC) $(FUZZ_CLI_OBJ) $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FUZZ_CFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $< $(FUZZ_SRC) $(FUZZ_CLI_OBJ) \
		$(B)/libpostproc.a $(PP_LIBS) $(BPF_LIBS)

# `make fuzz` builds this with clang and SAN=fuzzer-no-link,...
$(B)/tests/fuzz/fuzz: tests/fuzz/fuzz.c $(FUZZ_SRC) $(FUZZ_CLI_OBJ) $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer -MMD -MP -MF $@.d -MT $@ -o $@ $< $(FUZZ_SRC) \
		$(FUZZ_CLI_OBJ) $(B)/libpostproc.a $(PP_LIBS) $(BPF_LIBS)
