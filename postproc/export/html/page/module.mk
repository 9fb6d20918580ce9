# The page of export --format html: one file, which esbuild bundles under build/page, embedded in the program. All
# builds share it. If it cannot be built it is empty, and the next make tries again.
PAGE := build/page.html
PAGE_SRC := $(wildcard postproc/export/html/page/src/* postproc/export/html/page/src/*/*) postproc/export/html/page/build-page
PP_OBJ += $(B)/obj/postproc/export/html/page/page.o

$(PAGE): $(PAGE_SRC) $(if $(shell test -s $(PAGE) || echo empty),FORCE)
	$(call say,PAGE,$@)
	@mkdir -p build
	$(Q)postproc/export/html/page/build-page build/page $@

$(B)/obj/postproc/export/html/page/page.o: postproc/export/html/page/page.S $(PAGE)
	$(call say,AS,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -c -DPAGE='"$(PAGE)"' $< -o $@
