# npm packages that read the exports. Tests that need a package which npm cannot install are skipped with that
# reason.
TRACE_PROCESSOR := $(B)/tests/perfetto/trace-processor
TESTS_BUILD += $(B)/tests/export/installed.json $(TRACE_PROCESSOR)

$(B)/tests/export/installed.json: tests/export/package-lock.json tests/export/package.json
	$(call say,NPM,$@)
	@mkdir -p $(@D)
	$(Q)tests/npm-ci tests/export $(@D) || :

$(TRACE_PROCESSOR): | tests/export/get-trace-processor
	$(call say,NPM,$@)
	$(Q)tests/export/get-trace-processor $(@D) || :
