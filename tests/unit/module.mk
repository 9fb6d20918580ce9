# Test programs of tests/unit.
UNIT_COLLECT_TESTS := $(addprefix $(B)/tests/unit/,test_kernel_event_merge test_program_tasks test_kernel_ctf \
	test_kernel_ctf_full)
UNIT_COLLECT_OBJ := $(patsubst %,$(B)/obj/postproc/%.o,record/merge record/tree record/ctf/writer record/ctf/cpu_files record/ctf/classes record/ctf/declaration record/ctf/full record/ctf/syscalls)
TESTS_BUILD += $(UNIT_COLLECT_TESTS)

$(UNIT_COLLECT_TESTS): $(B)/tests/unit/%: tests/unit/%.c $(UNIT_COLLECT_OBJ) $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $(filter %.c %.o,$^) \
		$(B)/libpostproc.a $(PP_LIBS)

UNIT_PP_TESTS := $(addprefix $(B)/tests/unit/,test_causal_chains test_core test_sorter test_item_file test_table_diff test_table_fit test_table_group test_function_name test_share test_json test_latest_before test_pair_hash test_load_history test_table_formats test_capture_files \
	test_demangle test_address_ranges test_windows test_symbol_cache test_access_sets test_line_uses test_frees test_statements test_occ test_ulcp test_reversals test_page_data test_verdict test_budget name_address statistics)
TESTS_BUILD += $(UNIT_PP_TESTS)
BENCH_BUILD += $(B)/tests/unit/name_address

$(UNIT_PP_TESTS): $(B)/tests/unit/%: tests/unit/%.c $(B)/libpostproc.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $< $(B)/libpostproc.a $(PP_LIBS)

UNIT_RUNTIME_TESTS := $(addprefix $(B)/tests/unit/,test_clock test_futex)
TESTS_BUILD += $(UNIT_RUNTIME_TESTS)
# unload.c belongs only to the shared libraries, which define the functions that it calls.
UNIT_RUNTIME_OBJ := $(filter-out %/unload.o %/interpose.o,$(RUNTIME_OBJ))

$(UNIT_RUNTIME_TESTS): $(B)/tests/unit/%: tests/unit/%.c $(UNIT_RUNTIME_OBJ)
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) -D_GNU_SOURCE -MMD -MP -MF $@.d -MT $@ -o $@ $< $(UNIT_RUNTIME_OBJ) -pthread

# Includes clock.c, to run it on a simulated machine.
TESTS_BUILD += $(B)/tests/unit/test_clock_unstable_tsc
$(B)/tests/unit/test_clock_unstable_tsc: tests/unit/test_clock_unstable_tsc.c $(filter %/string.o,$(RUNTIME_OBJ))
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) -D_GNU_SOURCE -MMD -MP -MF $@.d -MT $@ -o $@ $< $(filter %.o,$^)
