# The readers as functions of bytes: a plain program for `make check`, a libFuzzer program for `make fuzz`.
FUZZ_SRC := tests/fuzz/targets.c tests/ctf/fixture.c tests/pass/event_text.c \
	libgmon-mt/runtime/config/config.c libgmon-mt/runtime/config/config_file.c libgmon-mt/runtime/files/dir.c \
	libgmon-mt/runtime/capture/capture_path.c libgmon-mt/runtime/sys/string.c
TESTS_BUILD += $(B)/tests/fuzz/replay

# The .d files of older builds name sources in folders that no longer exist.
libgmon-mt/runtime/%.c: ;

FUZZ_CFLAGS = $(PP_CFLAGS) -Itests/ctf -Itests/pass

$(B)/tests/fuzz/replay: tests/fuzz/replay.c $(FUZZ_SRC) $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FUZZ_CFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $< $(FUZZ_SRC) $(B)/libpostproc.a $(PP_LIBS)

# `make fuzz` builds this with clang and SAN=fuzzer-no-link,...
$(B)/tests/fuzz/fuzz: tests/fuzz/fuzz.c $(FUZZ_SRC) $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer -MMD -MP -MF $@.d -MT $@ -o $@ $< $(FUZZ_SRC) \
		$(B)/libpostproc.a $(PP_LIBS)
