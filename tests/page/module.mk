# What drives the browser. Where npm cannot get it the tests of the page are skipped, and say so.
TESTS_BUILD += $(B)/tests/page/installed.json

$(B)/tests/page/installed.json: tests/page/package-lock.json tests/page/package.json
	$(call say,NPM,$@)
	@mkdir -p $(@D)
	$(Q)postproc/export/html/page/npm-ci tests/page $(@D) || :

# The pictures in README.md, of a run of an example on this machine.
.PHONY: screenshots
screenshots:
	$(Q)tests/install-deps check
	$(Q)$(submake) all $(B)/tests/page/installed.json
	$(Q)tests/page/screenshots $(B) examples
