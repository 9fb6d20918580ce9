# The BPF programs, which clang compiles and libbpf loads.  Included by postproc/module.mk, whose PP_CLI_SRC has all
# files of this folder.  Without clang or libbpf, gprof-mt is built without BPF programs (absent.c).
BPF_CC := $(firstword $(shell command -v clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14))
BPF_LACKS := $(if $(shell pkg-config --exists 'libbpf >= 1.0' 2>/dev/null && echo yes),$(if $(BPF_CC),$(if $(shell \
	$(BPF_CC) -target bpf -fsyntax-only -x c /dev/null 2>/dev/null && echo yes),,clang for BPF),clang),libbpf)
BPF_DIR := postproc/record/bpf
BPF_OBJECT := $(B)/obj/$(BPF_DIR)/programs.bpf.o
BPF_ABSENT := $(B)/obj/$(BPF_DIR)/absent.o

ifeq ($(BPF_LACKS),)
PP_CLI_SRC := $(filter-out %.bpf.c $(BPF_DIR)/absent.c,$(PP_CLI_SRC))
BPF_OBJ := $(B)/obj/$(BPF_DIR)/object.o
BPF_LIBS := -lbpf
else
PP_CLI_SRC := $(filter-out $(wildcard $(BPF_DIR)/*.c),$(PP_CLI_SRC)) $(BPF_DIR)/absent.c
BPF_OBJ :=
BPF_LIBS :=
endif

# Debian has x86's kernel headers in a folder of their own; -mcpu=v3 has atomic operations that return a value.
BPF_CFLAGS = -target bpf -mcpu=v3 -std=gnu17 -ffreestanding -O2 -g $(WARN) -Wno-missing-prototypes -Ipostproc \
	-idirafter /usr/include/$(shell $(CC) -print-multiarch)
$(BPF_OBJECT): $(BPF_DIR)/programs.bpf.c
	$(call say,BPF,$@)
	@mkdir -p $(@D)
	$(Q)$(BPF_CC) $(BPF_CFLAGS) -MMD -MP -c $< -o $@

$(B)/obj/$(BPF_DIR)/object.o: $(BPF_DIR)/object.S $(BPF_OBJECT)
	$(call say,AS,$@)
	$(Q)$(CC) -DPP_BPF_OBJECT='"$(BPF_OBJECT)"' -c $< -o $@

$(BPF_ABSENT): BASE_CFLAGS += -DPP_BPF_LACKS='"$(BPF_LACKS)"'
$(BPF_ABSENT): $(BPF_DIR)/absent.c
	@echo '  without BPF programs: $(BPF_LACKS) is not installed; record uses perf tracepoints'
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) -MMD -MP -c $< -o $@
