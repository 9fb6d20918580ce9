# Each test_*.c reads the fixtures of this folder: events as text, and the expected rows.
PASS_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/pass/test_*.c))
TESTS_BUILD += $(PASS_TESTS)

$(PASS_TESTS): $(B)/tests/pass/%: tests/pass/%.c tests/pass/event_text.c tests/pass/access_text.c $(B)/libpostproc.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c,$^) $(B)/libpostproc.a $(PP_LIBS)

$(B)/tests/pass/test_blame: tests/pass/blame_simulation.c
$(B)/tests/pass/test_dependence $(B)/tests/pass/test_edges: tests/pass/dependence_simulation.c
$(B)/tests/pass/test_accesses $(B)/tests/pass/test_ulcp_pairs: tests/pass/access_programs.c
