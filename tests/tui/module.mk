# Compares the browser's index with the passes, and drives the browser in a terminal.
TESTS_BUILD += $(B)/tests/tui/compare_index $(B)/tests/tui/compare_blame

$(B)/tests/tui/%: tests/tui/%.c tests/pass/event_text.c tests/pass/access_text.c $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -Itests/pass -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c,$^) $(B)/libpostproc.a $(PP_LIBS)
