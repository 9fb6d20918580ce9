# Runs models by real threads.
TESTS_BUILD += $(B)/tests/replay/test_skeleton $(B)/tests/replay/test_model

$(B)/tests/replay/test_skeleton: tests/replay/test_skeleton.c tests/replay/random_model.c $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -Itests/unit -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c,$^) $(B)/libpostproc.a $(PP_LIBS)

# Transforms models, and checks the results.
TESTS_BUILD += $(B)/tests/replay/test_ulcp

$(B)/tests/replay/test_ulcp: tests/replay/test_ulcp.c tests/replay/ulcp_case.c tests/replay/untimed.c tests/replay/random_model.c $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -Itests/unit -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c,$^) $(B)/libpostproc.a $(PP_LIBS)

TESTS_BUILD += $(B)/tests/replay/test_ulcp_cases

$(B)/tests/replay/test_ulcp_cases: tests/replay/test_ulcp_cases.c $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -Itests/unit -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c,$^) $(B)/libpostproc.a $(PP_LIBS)

# Make models of events as text.
TESTS_BUILD += $(B)/tests/replay/test_call_times $(B)/tests/replay/test_delays $(B)/tests/replay/test_spans

$(B)/tests/replay/test_model $(B)/tests/replay/test_call_times $(B)/tests/replay/test_delays $(B)/tests/replay/test_spans: $(B)/tests/replay/%: tests/replay/%.c tests/pass/event_text.c tests/pass/access_text.c $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c,$^) $(B)/libpostproc.a $(PP_LIBS)
