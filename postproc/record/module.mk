# record: what gprof-mt record is made of.  Included by postproc/module.mk.
# The configuration reader and the maker of capture directories are those of the runtime.
PP_RUNTIME_OBJ := $(patsubst %,$(B)/obj/libgmon-mt/runtime/%.o,config config_file capture children_find dir place session proof string)
PP_CLI_OBJ += $(PP_RUNTIME_OBJ)

# What system calls are called, as the kernel's headers have it.
SYSCALL_NAMES := $(B)/obj/postproc/record/ctf/syscall_names.inc
$(SYSCALL_NAMES):
	@mkdir -p $(@D)
	$(Q)echo '#include <asm/unistd_64.h>' | $(CC) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$$/[\2] = "\1",/p' | sort -V >$@
$(B)/obj/postproc/record/ctf/syscalls.o: $(SYSCALL_NAMES)
$(B)/obj/postproc/record/ctf/syscalls.o: BASE_CFLAGS += -I$(B)/obj/postproc/record/ctf

# `make` and then `make install LIBDIR=...`: the program has to know the new place.
LIBDIR_STAMP := $(B)/obj/libdir
$(LIBDIR_STAMP): FORCE
	@mkdir -p $(@D)
	@echo '$(LIBDIR)' | cmp -s - $@ || echo '$(LIBDIR)' >$@
.PHONY: FORCE

$(B)/obj/postproc/record/libraries.o: $(LIBDIR_STAMP)
$(B)/obj/postproc/record/libraries.o: BASE_CFLAGS += -DGM_LIBDIR='"$(LIBDIR)"'

INSTALLS += install-configs
.PHONY: install-configs
install-configs:
	$(Q)install -d $(DESTDIR)$(DATADIR)/gprof-mt
	$(Q)install -m 644 $(wildcard configs/*.conf configs/*.lttng) $(DESTDIR)$(DATADIR)/gprof-mt
