# Readers of exports that npm has, in the build folder.  Without a network there are none, and the tests that
# need them say so.
EXPORT_READERS := $(B)/tests/export/installed.json
TESTS_BUILD += $(EXPORT_READERS)

$(EXPORT_READERS): $(addprefix tests/export/,package.json package-lock.json .npmrc)
	$(call say,NPM,$@)
	@mkdir -p $(@D)
	$(Q)cp $^ $(@D)
	$(Q)if (cd $(@D) && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline) >$(@D)/npm.log 2>&1 </dev/null; \
		then cp tests/export/package-lock.json $@; \
		else echo "  npm could not get the readers of exports ($(@D)/npm.log)"; fi
