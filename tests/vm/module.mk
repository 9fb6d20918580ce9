# Programs that only the virtual machine runs; it has a /tmp of its own.
VM_BUILD := $(B)/tests/vm/known

$(VM_BUILD): $(B)/tests/vm/%: tests/truth/programs/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $< -pthread -o $@
