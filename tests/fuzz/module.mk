# The readers as functions of bytes: a plain program for `make check`, and libFuzzer's for `make fuzz`.
FUZZ_SRC := tests/fuzz/targets.c tests/ctf/fixture.c tests/pass/event_text.c libgmon-mt/runtime/config.c libgmon-mt/runtime/config_file.c libgmon-mt/runtime/dir.c libgmon-mt/runtime/place.c \
	libgmon-mt/runtime/string.c
TESTS_BUILD += $(B)/tests/fuzz/replay

FUZZ_CFLAGS = $(PP_CFLAGS) -Itests/ctf -Itests/pass

$(B)/tests/fuzz/replay: tests/fuzz/replay.c $(FUZZ_SRC) $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FUZZ_CFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c,$^) $(B)/libpostproc.a $(PP_LIBS)

# With clang and SAN=fuzzer-no-link,...: `make fuzz` says so.
$(B)/tests/fuzz/fuzz: tests/fuzz/fuzz.c $(FUZZ_SRC) $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c,$^) \
		$(B)/libpostproc.a $(PP_LIBS)
