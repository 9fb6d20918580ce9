# The page of export --format html: one file, made by npm's packages, which stay under build/page, and held in
# the program. One for all builds. Where it could not be made it is empty, and tried again the next time.
PAGE := build/page.html
PAGE_SRC := $(wildcard postproc/export/html/page/src/*) $(addprefix postproc/export/html/page/,build-page npm-ci build.mjs package.json \
	package-lock.json .npmrc)
PP_OBJ += $(B)/obj/postproc/export/html/page/page.o

$(PAGE): $(PAGE_SRC) $(if $(shell test -s $(PAGE) || echo empty),FORCE)
	$(call say,PAGE,$@)
	@mkdir -p build
	$(Q)postproc/export/html/page/build-page build/page $@

$(B)/obj/postproc/export/html/page/page.o: postproc/export/html/page/page.S $(PAGE)
	$(call say,AS,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -c -DPAGE='"$(PAGE)"' $< -o $@
