# Each example is built twice: for profiling (build/examples/), and plain (build/examples/plain/).
EXAMPLES := philosophers client_server crossroad farm bottleneck
EXAMPLE_CFLAGS := -std=gnu17 -O2 -g $(WARN) -pthread

ALL += $(EXAMPLES:%=$(B)/examples/%) $(EXAMPLES:%=$(B)/examples/plain/%)

# Built as users do: gcc -pg -g -O2 app.c -lgmon_mt.  The run path finds the library before it is installed.
$(EXAMPLES:%=$(B)/examples/%): $(B)/examples/%: examples/%.c examples/example.h $(B)/libgmon_mt.so
	$(call say,PG,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(EXAMPLE_CFLAGS) -pg -o $@ $< -L$(B) -lgmon_mt -Wl,-rpath,'$$ORIGIN/..'

$(EXAMPLES:%=$(B)/examples/plain/%): $(B)/examples/plain/%: examples/%.c examples/example.h
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(EXAMPLE_CFLAGS) -o $@ $<
