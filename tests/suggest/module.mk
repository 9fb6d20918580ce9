# Facts about random runs, and the suggestions that follow from them.
TESTS_BUILD += $(B)/tests/suggest/test_patterns

$(B)/tests/suggest/test_patterns: tests/suggest/test_patterns.c tests/replay/ulcp_case.c tests/replay/untimed.c tests/replay/random_model.c $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -Itests/unit -Itests/replay -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c,$^) $(B)/libpostproc.a $(PP_LIBS)

# Random flows of critical sections.
TESTS_BUILD += $(B)/tests/suggest/test_flow

$(B)/tests/suggest/test_flow: tests/suggest/test_flow.c $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -Itests/unit -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c,$^) $(B)/libpostproc.a $(PP_LIBS)
