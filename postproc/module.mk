# libpostproc.a, which tests link, and gprof-mt, which adds cli, tui and record.
PP_DIRS := core statistics campaign table budget capture ctf calls events symbols flow analysis pass replay suggest \
	monitor index render export
PP_SRC := $(foreach d,$(PP_DIRS),$(wildcard postproc/$(d)/*.c postproc/$(d)/*/*.c))
PP_CLI_SRC := $(foreach d,cli tui record,$(wildcard postproc/$(d)/*.c postproc/$(d)/*/*.c))
include postproc/record/bpf/module.mk
PP_PROTOS := $(wildcard postproc/export/*/*.proto)
PP_GENERATED := $(PP_PROTOS:%.proto=$(B)/generated/%.pb-c.c)
PP_OBJ := $(PP_SRC:%.c=$(B)/obj/%.o) $(PP_GENERATED:$(B)/generated/%.c=$(B)/obj/%.o)
PP_CLI_OBJ := $(PP_CLI_SRC:%.c=$(B)/obj/%.o) $(BPF_OBJ)
include postproc/record/module.mk
include postproc/export/html/page/module.mk

# Evaluated once, and only in recipes: `make deps` must work before these packages are installed.
PP_PACKAGES := glib-2.0 gio-2.0 json-glib-1.0 babeltrace2 libdw libelf lttng-ctl ncursesw libprotobuf-c
PP_PKG_CFLAGS = $(eval PP_PKG_CFLAGS := $$(shell pkg-config --cflags $(PP_PACKAGES)))$(PP_PKG_CFLAGS)
PP_PKG_LIBS = $(eval PP_PKG_LIBS := $$(shell pkg-config --libs $(PP_PACKAGES)))$(PP_PKG_LIBS)

PP_CFLAGS = $(BASE_CFLAGS) -D_GNU_SOURCE -Ipostproc -I$(B)/generated/postproc $(PP_PKG_CFLAGS) $(SAN_FLAGS)
# libstdc++ has __cxa_demangle; it is linked by its run-time name, so that no C++ compiler is needed.
PP_LIBS = $(PP_PKG_LIBS) -l:libstdc++.so.6 -lm

ALL += $(B)/gprof-mt

# Zydis decodes instructions.  Without it, fewer types of heap blocks are found.
PP_ZYDIS := $(wildcard /usr/include/Zydis/Zydis.h /usr/local/include/Zydis/Zydis.h)
$(B)/obj/postproc/symbols/instruction.o: BASE_CFLAGS += $(if $(PP_ZYDIS),-DPP_HAS_ZYDIS)
PP_LIBS += $(if $(PP_ZYDIS),-lZydis)

$(B)/obj/postproc/%.o: postproc/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -MMD -MP -c $< -o $@

# C code for protobuf messages.
$(B)/generated/%.pb-c.c $(B)/generated/%.pb-c.h &: %.proto
	$(call say,PROTOC,$@)
	@mkdir -p $(B)/generated/postproc
	$(Q)protoc-c -Ipostproc --c_out=$(B)/generated/postproc $<

$(B)/obj/postproc/%.o: $(B)/generated/postproc/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -MMD -MP -c $< -o $@

$(PP_OBJ): | $(PP_GENERATED:.c=.h)

# Rebuilt from scratch: `ar r` would keep members whose sources were deleted.
$(B)/libpostproc.a: $(PP_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/gprof-mt: $(PP_CLI_OBJ) $(B)/libpostproc.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN_FLAGS) -o $@ $^ $(PP_LIBS) $(BPF_LIBS)

INSTALLS += install-postproc
.PHONY: install-postproc
install-postproc: $(B)/gprof-mt
	$(Q)install -d $(DESTDIR)$(BINDIR) $(addprefix $(DESTDIR)$(DATADIR)/man/man,1 5 7)
	$(Q)install $(B)/gprof-mt $(DESTDIR)$(BINDIR)
	$(Q)install -m 644 $(wildcard postproc/man/*.1) $(DESTDIR)$(DATADIR)/man/man1
	$(Q)install -m 644 $(wildcard postproc/man/*.5) $(DESTDIR)$(DATADIR)/man/man5
	$(Q)install -m 644 $(wildcard postproc/man/*.7) $(DESTDIR)$(DATADIR)/man/man7
	$(Q)install -D -m 644 postproc/completion/gprof-mt.bash $(DESTDIR)$(DATADIR)/bash-completion/completions/gprof-mt
	$(Q)install -D -m 644 -t $(DESTDIR)$(DATADIR)/zsh/site-functions postproc/completion/_gprof-mt
