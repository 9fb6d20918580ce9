/* SPDX-License-Identifier: MIT */
/* Reports one module to libdwfl, checks its build-id, and finds its debug file. */
#include "symbols/debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <glib.h>

#include "core/text/printable.h"
#include "symbols/debug_server.h"

struct pp_debug_file {
	char *path, *name, *build_id;
	char *fault;
	Dwfl *dwfl, *search;
	Dwfl_Module *module;
	/* The parameters and the result of the search for a separate debug file; NULL: none. */
	bool is_searched;
	const char *link;
	GElf_Word crc;
	char *found;
	/* Another file was searched for, so the names do not depend on the key alone. */
	bool is_unsure;
};

/* True if the file that .gnu_debuglink names is in one of the places where libdwfl looks for it. */
static bool is_here(const char *path, const char *link)
{
	g_autofree char *folder = g_path_get_dirname(path);
	const char *const folders[][2] = {
	    {folder, ""}, {folder, ".debug"}, {"/usr/lib/debug", folder}};

	if (!link)
		return false;
	for (unsigned i = 0; i < G_N_ELEMENTS(folders); i++) {
		g_autofree char *file = g_build_filename(folders[i][0], folders[i][1], link, NULL);

		if (g_file_test(file, G_FILE_TEST_EXISTS))
			return true;
	}
	return g_path_is_absolute(link) && g_file_test(link, G_FILE_TEST_EXISTS);
}

/* The search as libdwfl does it, here and then on servers.  Returns a descriptor, or -1. */
static int find_anywhere(Dwfl *dwfl, Dwfl_Module *module, void **data, const char *name,
			 Dwarf_Addr base, const char *path, const char *link, GElf_Word crc,
			 char **ret_path)
{
	struct pp_debug_file *file = *data;
	int fd;

	if (pp_debug_server_is_silent()) {
		fd = dwfl_build_id_find_debuginfo(module, data, name, base, path, link, crc,
						  ret_path);
		file->is_unsure = true;
		if (fd >= 0 || !is_here(file->path, link))
			return fd;
	}
	pp_debug_server_begin(dwfl, file->name);
	fd = dwfl_standard_find_debuginfo(module, data, name, base, path, link, crc, ret_path);
	pp_debug_server_end(fd >= 0);
	file->is_unsure |= pp_debug_server_is_silent();
	return fd;
}

/* libdwfl calls this for the debug file, and later for a file that several debug files share. */
static int find_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			   const char *path, const char *link, GElf_Word crc, char **ret_path)
{
	struct pp_debug_file *file = *data;
	bool is_shared = link && !crc;
	int fd = -1;

	if (file->is_searched && crc == file->crc && g_strcmp0(link, file->link) == 0) {
		if (file->found)
			fd = open(file->found, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			*ret_path = strdup(file->found);
		return fd;
	}
	fd = find_anywhere(file->dwfl, module, data, name, base, path, link, crc, ret_path);
	/*
	 * A shared file is identified by its build-id, so the names remain valid unless it is
	 * missing.
	 */
	if (fd < 0 || !is_shared)
		file->is_unsure = true;
	return fd;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debug_file,
};

static Dwfl_Module *report(Dwfl *dwfl, struct pp_debug_file *file)
{
	Dwfl_Module *module;
	void **data;

	dwfl_report_begin(dwfl);
	module = dwfl_report_elf(dwfl, file->name, file->path, -1, 0, true);
	dwfl_report_end(dwfl, NULL, NULL);
	if (!module)
		return NULL;
	dwfl_module_info(module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
	*data = file;
	return module;
}

char *pp_debug_file_build_id(Dwfl_Module *module)
{
	const unsigned char *bits;
	GElf_Addr address;
	int n = dwfl_module_build_id(module, &bits, &address);
	g_autoptr(GString) text = g_string_new(NULL);

	for (int i = 0; i < n; i++)
		g_string_append_printf(text, "%02x", bits[i]);
	return n > 0 ? g_string_free(g_steal_pointer(&text), FALSE) : NULL;
}

static bool has_build_id(Dwfl_Module *module, const char *expected)
{
	g_autofree char *actual = pp_debug_file_build_id(module);

	return g_strcmp0(actual, expected) == 0;
}

static const char *open_module(struct pp_debug_file *file)
{
	GElf_Addr bias;

	if (!g_path_is_absolute(file->path))
		return "not a file";
	if (!g_file_test(file->path, G_FILE_TEST_IS_REGULAR))
		return "the file no longer exists";
	file->dwfl = dwfl_begin(&callbacks);
	if (!file->dwfl)
		return dwfl_errmsg(-1);
	file->module = report(file->dwfl, file);
	if (!file->module || !dwfl_module_getelf(file->module, &bias))
		return dwfl_errmsg(-1);
	if (file->build_id && !has_build_id(file->module, file->build_id))
		return "build-id differs";
	return NULL;
}

struct pp_debug_file *pp_debug_file_open(const char *path, const char *build_id)
{
	struct pp_debug_file *file = g_new0(struct pp_debug_file, 1);

	file->path = g_strdup(path);
	file->name = pp_printable(g_path_get_basename(path));
	file->build_id = g_strdup(build_id);
	file->fault = g_strdup(open_module(file));
	return file;
}

void pp_debug_file_close(struct pp_debug_file *file)
{
	if (!file)
		return;
	if (file->dwfl)
		dwfl_end(file->dwfl);
	free(file->found);
	g_free(file->fault);
	g_free(file->build_id);
	g_free(file->name);
	g_free(file->path);
	g_free(file);
}

const char *pp_debug_file_fault(const struct pp_debug_file *file)
{
	return file->fault;
}

Dwfl_Module *pp_debug_file_module(const struct pp_debug_file *file)
{
	return file->fault ? NULL : file->module;
}

/* --- key ------------------------------------------------------------------------------------ */

static bool has_section(Elf *elf, const char *wanted, const char *compressed)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS
				       ? elf_strptr(elf, names, header.sh_name)
				       : NULL;

		if (g_strcmp0(name, wanted) == 0 || (name && g_strcmp0(name, compressed) == 0))
			return true;
	}
	return false;
}

static int note_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			   const char *path, const char *link, GElf_Word crc, char **ret_path)
{
	struct pp_debug_file *file = *data;
	int fd = find_anywhere(file->search, module, data, name, base, path, link, crc, ret_path);

	if (fd >= 0 && !file->found && *ret_path)
		file->found = strdup(*ret_path);
	return fd;
}

/*
 * Searches in a Dwfl of its own, because a search changes its state. libdwfl must do the search,
 * since it closes the descriptor that it assumes for the file: 0, if it was not set.
 */
static void search(struct pp_debug_file *file, Elf *elf)
{
	static const Dwfl_Callbacks noting = {
	    .find_elf = dwfl_build_id_find_elf,
	    .find_debuginfo = note_debug_file,
	};
	Dwfl *dwfl = file->search = dwfl_begin(&noting);
	Dwfl_Module *module = dwfl ? report(dwfl, file) : NULL;
	GElf_Addr bias;

	file->link = dwelf_elf_gnu_debuglink(elf, &file->crc);
	if (!file->link)
		file->crc = 0;
	if (module && dwfl_module_getelf(module, &bias)) {
		if (has_section(elf, ".symtab", NULL))
			dwfl_module_getdwarf(module, &bias);
		else
			dwfl_module_getsymtab(module);
	}
	file->is_searched = true;
	if (dwfl)
		dwfl_end(dwfl);
}

/* Returns false if the file does not exist. */
static bool append_file(GString *key, const char *what, const char *path)
{
	g_autofree char *quoted = g_strescape(path, NULL);
	struct stat st;

	if (stat(path, &st) != 0)
		return false;
	g_string_append_printf(
	    key, "%s \"%s\": %" PRId64 " bytes, %" PRId64 ".%09ld, %" PRId64 ".%09ld\n", what,
	    quoted, (int64_t)st.st_size, (int64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
	    (int64_t)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
	return true;
}

char *pp_debug_file_key(struct pp_debug_file *file)
{
	g_autoptr(GString) key = g_string_new(NULL);
	GElf_Addr bias;
	Elf *elf = file->fault ? NULL : dwfl_module_getelf(file->module, &bias);

	if (!elf || !file->build_id)
		return NULL;
	if (!file->is_searched && (!has_section(elf, ".debug_info", ".zdebug_info") ||
				   !has_section(elf, ".symtab", NULL)))
		search(file, elf);
	if (file->is_unsure)
		return NULL;
	g_string_printf(key, "gprof-mt %s, libdw %s\nbuild-id %s\n", GM_VERSION, dwfl_version(NULL),
			file->build_id);
	if (!append_file(key, "file", file->path) ||
	    (file->found && !append_file(key, "debug file", file->found)))
		return NULL;
	return g_string_free(g_steal_pointer(&key), FALSE);
}
