# Text events in, rows out: each test_*.c runs the fixtures beside it.
PASS_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/pass/test_*.c))
TESTS_BUILD += $(PASS_TESTS)

$(PASS_TESTS): $(B)/tests/pass/%: tests/pass/%.c tests/pass/event_text.c $(B)/libpostproc.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c,$^) $(B)/libpostproc.a $(PP_LIBS)
