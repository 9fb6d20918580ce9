# Readers of exports that npm has. Where npm cannot get them the tests that need them are skipped, and say so.
EXPORT_READERS := $(foreach folder,export export/perfetto,$(B)/tests/$(folder)/installed.json)
TESTS_BUILD += $(EXPORT_READERS)

$(EXPORT_READERS): $(B)/%/installed.json: %/package-lock.json %/package.json
	$(call say,NPM,$@)
	@mkdir -p $(@D)
	$(Q)postproc/page/npm-ci $* $(@D) || :
