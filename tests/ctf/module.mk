# Test programs of tests/ctf: they write captures, which libpostproc.a and babeltrace2 read.
CTF_TESTS := $(patsubst %.c,$(B)/%,$(filter-out tests/ctf/fixture.c,$(wildcard tests/ctf/*.c)))
TESTS_BUILD += $(CTF_TESTS)
BENCH_BUILD += $(B)/tests/ctf/make_capture

$(CTF_TESTS): $(B)/tests/ctf/%: tests/ctf/%.c tests/ctf/fixture.c $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -Itests/unit -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c,$^) \
		$(B)/libpostproc.a $(PP_LIBS)
