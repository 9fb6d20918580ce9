# Programs that only the virtual machine runs: its /tmp is not ours.
VM_BUILD := $(B)/tests/vm/known

$(VM_BUILD): $(B)/tests/vm/%: tests/truth/programs/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $< -pthread -o $@
