# Programs that read captures of tests/access with libpostproc.a.
ACCESS_PROGRAMS := $(B)/tests/access/print_instances
TESTS_BUILD += $(ACCESS_PROGRAMS)

$(ACCESS_PROGRAMS): $(B)/tests/access/%: tests/access/%.c $(B)/libpostproc.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c,$^) $(B)/libpostproc.a $(PP_LIBS)
