# The npm packages that drive the browser. Tests of the page are skipped if npm cannot install them.
TESTS_BUILD += $(B)/tests/page/installed.json

$(B)/tests/page/installed.json: tests/page/package-lock.json tests/page/package.json
	$(call say,NPM,$@)
	@mkdir -p $(@D)
	$(Q)tests/npm-ci tests/page $(@D) || :

# The pictures in README.md, taken from a run of an example on this machine.
.PHONY: screenshots
screenshots:
	$(Q)tests/install-deps check
	$(Q)$(submake) all $(B)/tests/page/installed.json
	$(Q)tests/page/screenshots $(B) examples
