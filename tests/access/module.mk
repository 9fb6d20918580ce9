# Programs that read captures of tests/access with libpostproc.a.
ACCESS_PROGRAMS := $(B)/tests/access/print_instances
TESTS_BUILD += $(ACCESS_PROGRAMS)

$(ACCESS_PROGRAMS): $(B)/tests/access/%: tests/access/%.c $(B)/libpostproc.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c,$^) $(B)/libpostproc.a $(PP_LIBS)

# The map of the heap's blocks, on its own.
TESTS_BUILD += $(B)/tests/access/test_blocks

$(B)/tests/access/test_blocks: tests/access/test_blocks.c $(B)/obj/libsync-trace/access/blocks.o
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) -D_GNU_SOURCE -Ilibsync-trace -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c %.o,$^)
