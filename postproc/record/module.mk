# The sources of `gprof-mt record`.  Included by postproc/module.mk.
# The configuration reader and the creation of capture directories are shared with the runtime.
PP_RUNTIME_OBJ := $(patsubst %,$(B)/obj/libgmon-mt/runtime/%.o,config/config config/config_file \
	capture/capture capture/children_find capture/capture_path capture/in_use capture/proof capture/session files/dir files/file stream/metadata_text sys/string)
PP_CLI_OBJ += $(PP_RUNTIME_OBJ)

# Names of system calls, from the kernel's headers.
SYSCALL_NAMES := $(B)/obj/postproc/record/ctf/syscall_names.inc
$(SYSCALL_NAMES):
	@mkdir -p $(@D)
	$(Q)echo '#include <asm/unistd_64.h>' | $(CC) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$$/[\2] = "\1",/p' | sort -V >$@
$(B)/obj/postproc/record/ctf/syscalls.o: $(SYSCALL_NAMES)
$(B)/obj/postproc/record/ctf/syscalls.o: BASE_CFLAGS += -I$(B)/obj/postproc/record/ctf

# For `make` followed by `make install LIBDIR=...`: rebuild the program with the new directory.
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
