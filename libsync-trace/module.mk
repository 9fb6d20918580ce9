# libsync_trace.so: interposes the pthread functions.  Load it by LD_PRELOAD, or link with -lsync_trace.
SYNC_SRC := $(filter-out %/provider.c libsync-trace/access/%,$(wildcard libsync-trace/*.c libsync-trace/*/*.c))
SYNC_OBJ := $(SYNC_SRC:%.c=$(B)/obj/%.o) $(RUNTIME_OBJ)

# Unwind tables let a cancelled or exiting thread unwind through our frames; only waits with a clean-up and io/ have
# -fexceptions.
# UBSan traps, since its runtime must not be loaded into the profiled program.
# %rbp keeps the program's value (record/path.c); gcc can do that, clang cannot.
SYNC_CLEANUPS := cond sem thread
SYNC_FRAMES := $(shell $(CC) -ffixed-rbp -fsyntax-only -x c /dev/null 2>/dev/null && \
	echo -ffixed-rbp -DST_HAS_FRAMES)
SYNC_CFLAGS := $(BASE_CFLAGS) -fdata-sections -D_GNU_SOURCE -fPIC -fvisibility=hidden -ftls-model=initial-exec \
	-fasynchronous-unwind-tables -fno-exceptions -fno-stack-protector -foptimize-sibling-calls $(SYNC_FRAMES) \
	-fno-tree-loop-distribute-patterns -Ilibsync-trace \
	$(if $(findstring undefined,$(SAN)),-fsanitize=undefined -fsanitize-undefined-trap-on-error)

# The provider of LTTng-UST is for --backend lttng alone. It is built where LTTng-UST's development package is.
SYNC_UST := $(shell pkg-config --exists lttng-ust 2>/dev/null && echo $(B)/libsync_trace_ust.so)

ALL += $(B)/libsync_trace.so $(B)/libsync_trace_openmp.so $(SYNC_UST)

$(B)/obj/libsync-trace/%.o: libsync-trace/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SYNC_CFLAGS) -MMD -MP -c $< -o $@

# Their clean-up handlers are found by unwind tables (libc/unwind.c).
$(SYNC_CLEANUPS:%=$(B)/obj/libsync-trace/wrap/%.o) $(B)/obj/libsync-trace/live/calls.o $(B)/obj/libsync-trace/io/%.o: SYNC_CFLAGS += -fexceptions

# Code for replays only, and code that runs once in a process: locked programs have it in memory.
$(B)/obj/libsync-trace/live/%.o: SYNC_CFLAGS += -Os
$(patsubst %,$(B)/obj/libsync-trace/%.o,libc/real libc/real_io libc/openmp record/fork record/process): SYNC_CFLAGS += -Os

$(B)/libsync_trace.so: $(SYNC_OBJ) libsync-trace/libsync-trace.map
	$(call say,LINK,$@)
	$(if $(SYNC_UST),,@echo '  without record --backend lttng: install liblttng-ust-dev, and run make again')
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -o $@ -Wl,-soname,libsync_trace.so $(RT_SORTED) -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete \
		-Wl,--version-script=libsync-trace/libsync-trace.map $(SYNC_OBJ)

# The names of libgomp's functions, for programs that need libgomp. libc/openmp.c may make the page of a symbol
# writable for a moment, so no code is in it.
$(B)/libsync_trace_openmp.so: libsync-trace/openmp/stubs.S libsync-trace/openmp/openmp.map $(B)/libsync_trace.so
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -nostdlib -o $@ -Wl,-soname,libsync_trace_openmp.so -Wl,-z,defs -Wl,-z,now -Wl,-z,separate-code \
		-Wl,--version-script=libsync-trace/openmp/openmp.map $< $(B)/libsync_trace.so

# The LTTng-UST provider, which the library loads if the configuration selects it.
$(B)/obj/libsync-trace/ust/provider.o: libsync-trace/ust/provider.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) -D_GNU_SOURCE -fPIC -fvisibility=hidden -Ilibsync-trace -MMD -MP -c $< -o $@

$(B)/libsync_trace_ust.so: $(B)/obj/libsync-trace/ust/provider.o
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -o $@ -Wl,-soname,libsync_trace_ust.so -Wl,-z,defs -Wl,-z,now $< -llttng-ust

# libaccess_trace: the functions that code built with -fsanitize=thread calls, in place of libtsan. Loops must not
# become calls of the functions that they stand for.
ACCESS_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard libsync-trace/access/*.c))
ACCESS_CFLAGS := $(BASE_CFLAGS) -D_GNU_SOURCE -fPIC -fvisibility=hidden -ftls-model=initial-exec -mcx16 -fno-builtin \
	-fno-tree-loop-distribute-patterns -fno-tree-slp-vectorize -fno-stack-protector -fasynchronous-unwind-tables \
	-fno-exceptions -Ilibsync-trace

# Its callers are found by the program's frames (callers/callers.c).
$(B)/obj/libsync-trace/access/malloc% $(B)/obj/libsync-trace/access/map%: ACCESS_CFLAGS += $(SYNC_FRAMES)

$(B)/obj/libsync-trace/access/%.o: libsync-trace/access/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ACCESS_CFLAGS) -MMD -MP -c $< -o $@

# --no-as-needed: the program may call no function of libsync_trace.so itself.
$(B)/libaccess_trace.so: $(ACCESS_OBJ) libsync-trace/access/access.map $(B)/libsync_trace.so
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -o $@ -Wl,-soname,libaccess_trace.so -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete \
		-Wl,--version-script=libsync-trace/access/access.map $(ACCESS_OBJ) $(B)/libsync_trace.so

$(B)/obj/libsync-trace/access/%.archive.o: libsync-trace/access/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ACCESS_CFLAGS) -fPIE -ftls-model=local-exec -DACCESS_ARCHIVE -MMD -MP -c $< -o $@

# As libgmon_mt.a: one object, so that all of it is linked, with its internal names made local.
$(B)/libaccess_trace.a: $(ACCESS_OBJ:%.o=%.archive.o)
	$(call say,AR,$@)
	$(Q)$(CC) -r -nostdlib -o $(B)/obj/libsync-trace/access_trace.o $^
	$(Q)objcopy --localize-hidden \
		$(foreach s,.text .text.unlikely .text.startup,--rename-section $s=gprof_mt_text) \
		$(B)/obj/libsync-trace/access_trace.o
	$(Q)rm -f $@ && ar rcsD $@ $(B)/obj/libsync-trace/access_trace.o

# libaccess_step.so: the accesses of any program, by single steps. Zydis decodes them; Debian has no archive of it.
ACCESS_SHARED := $(addprefix $(B)/obj/libsync-trace/access/,note.o data.o)
STEP_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard libsync-trace/access/step/*.c)) $(ACCESS_SHARED)
ACCESS_STEP := $(if $(wildcard /usr/include/Zydis/Zydis.h /usr/local/include/Zydis/Zydis.h),\
	$(B)/libaccess_step.so $(B)/libaccess_step_blocks.so)

# libaccess_step_blocks.so also knows the blocks of the heap.
STEP_BLOCKS := $(addprefix $(B)/obj/libsync-trace/access/,blocks.o malloc.o map.o)
$(B)/libaccess_step.so: $(STEP_OBJ) libsync-trace/access/step/step.map
$(B)/libaccess_step_blocks.so: $(STEP_OBJ) $(STEP_BLOCKS) libsync-trace/access/step/step_blocks.map
$(ACCESS_STEP): $(B)/libsync_trace.so
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -o $@ -Wl,-soname,$(@F) -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete \
		-Wl,--version-script=$(filter %.map,$^) $(filter %.o,$^) $(B)/libsync_trace.so -lZydis

# The plugin of gcc is for the gcc that builds it, if the headers for plugins are installed.
GCC_PLUGINS := $(shell $(CC) -print-file-name=plugin 2>/dev/null)/include
ACCESS_GATE := $(and $(wildcard $(GCC_PLUGINS)/gcc-plugin.h),$(shell command -v $(CXX)),$(B)/access_gate.so)

$(B)/access_gate.so: libsync-trace/access/gcc/access_gate.cc
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) -O2 -g -Wall -Wextra -Werror -fno-rtti -fPIC -shared -isystem $(GCC_PLUGINS) -o $@ $<

ALL += $(B)/libaccess_trace.so $(B)/libaccess_trace.a $(ACCESS_GATE) $(ACCESS_STEP)

INSTALLS += install-access
.PHONY: install-access
install-access: $(B)/libaccess_trace.so $(B)/libaccess_trace.a $(ACCESS_GATE) $(ACCESS_STEP)
	$(Q)install -d $(DESTDIR)$(LIBDIR)/pkgconfig
	$(Q)install -m 644 $(filter %/libaccess_trace.so %/libaccess_trace.a,$^) $(ACCESS_STEP) $(DESTDIR)$(LIBDIR)
	$(Q)rm -f $(DESTDIR)$(LIBDIR)/gprof-mt/access_gate.so $(DESTDIR)$(LIBDIR)/pkgconfig/access-trace-gcc.pc
	$(Q)$(if $(ACCESS_GATE),install -D -m 644 -t $(DESTDIR)$(LIBDIR)/gprof-mt $(ACCESS_GATE))
	$(Q)for name in access-trace $(if $(ACCESS_GATE),access-trace-gcc); do \
		sed -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' libsync-trace/access/$$name.pc.in \
			>$(DESTDIR)$(LIBDIR)/pkgconfig/$$name.pc || exit 1; \
	done

INSTALLS += install-sync
.PHONY: install-sync
install-sync: $(B)/libsync_trace.so $(B)/libsync_trace_openmp.so $(SYNC_UST)
	$(Q)install -d $(DESTDIR)$(LIBDIR)
	$(Q)install -m 644 $^ $(DESTDIR)$(LIBDIR)
	$(Q)$(if $(SYNC_UST),,rm -f $(DESTDIR)$(LIBDIR)/libsync_trace_ust.so)
