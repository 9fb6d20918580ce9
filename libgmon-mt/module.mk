# libgmon_mt.so and .a: the -pg runtime.  runtime/ is also built into libsync_trace.so.
RUNTIME_SRC := $(wildcard libgmon-mt/runtime/*.c libgmon-mt/runtime/*/*.c)
GMON_SRC := $(wildcard libgmon-mt/*.c)
GMON_ASM := $(wildcard libgmon-mt/arch/x86_64/*.S)

# Code reachable from mcount: no vector registers, no instrumentation, no loops turned into library
# calls (the remaining ones go to functions of our own: runtime/sys/sys.h).
RT_CFLAGS := $(BASE_CFLAGS) -D_GNU_SOURCE -fPIC -fvisibility=hidden -ftls-model=initial-exec \
	-mgeneral-regs-only -fdata-sections -fno-stack-protector -fno-tree-loop-distribute-patterns \
	$(if $(findstring undefined,$(SAN)),-fsanitize=undefined -fsanitize-undefined-trap-on-error)

# Separates large arrays from small variables: a child of fork copies each page that it writes to.
RT_SORTED := -Wl,--sort-section=alignment

RUNTIME_OBJ := $(RUNTIME_SRC:%.c=$(B)/obj/%.o)
GMON_OBJ := $(GMON_SRC:%.c=$(B)/obj/%.o) $(GMON_ASM:%.S=$(B)/obj/%.o) $(RUNTIME_OBJ)

$(B)/obj/libgmon-mt/%.o: libgmon-mt/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(RT_CFLAGS) -MMD -MP -c $< -o $@

$(B)/obj/libgmon-mt/%.o: libgmon-mt/%.S
	$(call say,AS,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(RT_CFLAGS) -MMD -MP -c $< -o $@

# `make install BINDIR=...` after `make`: the libraries must be rebuilt with the new directory.
BINDIR_STAMP := $(B)/obj/bindir
$(BINDIR_STAMP): FORCE
	@mkdir -p $(@D)
	@echo '$(BINDIR)' | cmp -s - $@ || echo '$(BINDIR)' >$@

$(B)/obj/libgmon-mt/runtime/lifecycle/collector.o: $(BINDIR_STAMP)
# Start-up code is built for size: locked programs have the libraries in memory.
$(B)/obj/libgmon-mt/runtime/capture/%.o $(B)/obj/libgmon-mt/runtime/config/%.o: RT_CFLAGS += -Os
# ... and code of streams that runs once for each packet or file.
$(patsubst %,$(B)/obj/libgmon-mt/runtime/stream/%.o,metadata metadata_text output stream stream_file stream_memory stream_ring trace): RT_CFLAGS += -Os

$(B)/obj/libgmon-mt/runtime/lifecycle/collector.o: RT_CFLAGS += -DGM_BINDIR='"$(BINDIR)"'

ALL += $(B)/libgmon_mt.so $(B)/libgmon_mt.a

# -Bsymbolic: the program's symbols must not replace functions of the runtime.
$(B)/libgmon_mt.so: $(GMON_OBJ) libgmon-mt/libgmon-mt.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared -o $@ $(GMON_OBJ) -Wl,--version-script=libgmon-mt/libgmon-mt.map \
		-Wl,-soname,libgmon_mt.so $(RT_SORTED) -Wl,-z,defs -Wl,-z,now -Wl,-z,relro -Wl,-Bsymbolic \
		-Wl,-z,nodelete

# A static program may call mcount before it has thread-local storage.
$(B)/obj/libgmon-mt/%.archive.o: libgmon-mt/%.S
	$(call say,AS,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(RT_CFLAGS) -DGM_ARCHIVE -MMD -MP -c $< -o $@

# One object with its internal names made local, so that they cannot collide with the program's.  Its code is in a
# section of its own, by which reports recognize samples in it (postproc/symbols/object_file.c).
ARCHIVE_OBJ := $(filter-out $(GMON_ASM:%.S=$(B)/obj/%.o) %/unload.o %/keys.o %/leave.o %/sanitizer.o %/interpose.o,$(GMON_OBJ)) \
	$(GMON_ASM:%.S=$(B)/obj/%.archive.o)

$(B)/libgmon_mt.a: $(ARCHIVE_OBJ) libgmon-mt/module.mk
	$(call say,AR,$@)
	$(Q)$(CC) -r -nostdlib -o $(B)/obj/libgmon-mt/gmon_mt.o $(ARCHIVE_OBJ)
	$(Q)objcopy --localize-hidden --localize-symbol=gm_thread_watch_shared \
		$(foreach s,.text .text.unlikely .text.startup .text.exit .text.hot,--rename-section $s=gprof_mt_text) $(B)/obj/libgmon-mt/gmon_mt.o
	$(Q)rm -f $@ && ar rcsD $@ $(B)/obj/libgmon-mt/gmon_mt.o

# The directory that LD_PRELOAD names under `record`: each program finds libraries there that it can load.
PRELOAD_TREE := $(B)/gprof-mt.preload
ALL += $(PRELOAD_TREE)/made
$(PRELOAD_TREE)/made: libgmon-mt/preload/make-tree libgmon-mt/preload/stub.S
	$(call say,LINKS,$(@D))
	$(Q)libgmon-mt/preload/make-tree $(@D) "$(CC)" && touch $@

INSTALLS += install-gmon
.PHONY: install-gmon
install-gmon: $(B)/libgmon_mt.so $(B)/libgmon_mt.a
	$(Q)install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include/gmon-mt
	$(Q)install -m 644 $(B)/libgmon_mt.so $(B)/libgmon_mt.a $(DESTDIR)$(LIBDIR)
	$(Q)libgmon-mt/preload/make-tree $(DESTDIR)$(LIBDIR)/gprof-mt.preload "$(CC)"
	$(Q)install -m 644 libgmon-mt/include/gmon-mt/format.h $(DESTDIR)$(PREFIX)/include/gmon-mt
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' \
		libgmon-mt/gmon-mt.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/gmon-mt.pc
