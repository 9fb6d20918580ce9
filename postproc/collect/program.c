/* SPDX-License-Identifier: MIT */
#include "collect/program.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <gelf.h>
#include <libelf.h>

/* --- finding --- */

/* As execvp(): EACCES only if nothing else on the path will do. */
static int check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return access(path, X_OK) ? -errno : 0;
}

static int find(const char *name, char **ret_path)
{
	g_auto(GStrv) dirs = NULL;
	const char *path = g_getenv("PATH");
	int result = -ENOENT;

	if (strchr(name, '/')) {
		result = check_file(name);
		if (result == 0)
			*ret_path = g_strdup(name);
		return result;
	}
	dirs = g_strsplit(path ? path : "/bin:/usr/bin", ":", -1);
	for (char **dir = dirs; *name && *dir; dir++) {
		g_autofree char *file = g_build_filename(**dir ? *dir : ".", name, NULL);
		int rc = check_file(file);

		if (rc == 0) {
			*ret_path = g_steal_pointer(&file);
			return 0;
		}
		if (rc == -EACCES)
			result = rc;
	}
	return result;
}

/* --- reading --- */

static bool is_privileged(int fd, const struct stat *st)
{
	struct statvfs fs;

	if (fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_NOSUID))
		return false;
	if ((st->st_mode & S_ISUID) && st->st_uid != geteuid())
		return true;
	if ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st->st_gid != getegid())
		return true;
	return geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

static void read_symbol(struct pp_program *program, const char *name, bool is_defined,
			bool is_dynamic)
{
	static const char *const counters[] = {"mcount", "_mcount", "__fentry__",
					       "__cyg_profile_func_enter"};

	for (size_t i = 0; i < G_N_ELEMENTS(counters); i++)
		program->counts_calls |= strcmp(name, counters[i]) == 0;
	program->has_runtime |= is_defined && strcmp(name, "gm_process_open") == 0;
	program->sets_asan |=
	    is_defined && is_dynamic && strcmp(name, "__asan_default_options") == 0;
}

static void read_symbols(struct pp_program *program, Elf *elf, Elf_Scn *section,
			 const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	GElf_Sym symbol;

	for (size_t i = 0; data && i < n && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		if (name)
			read_symbol(program, name, symbol.st_shndx != SHN_UNDEF,
				    header->sh_type == SHT_DYNSYM);
	}
}

static void read_needed(struct pp_program *program, Elf *elf, Elf_Scn *section,
			const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	GElf_Dyn entry;

	for (size_t i = 0; data && i < n && gelf_getdyn(data, i, &entry); i++) {
		const char *name = entry.d_tag == DT_NEEDED
				       ? elf_strptr(elf, header->sh_link, entry.d_un.d_val)
				       : NULL;

		if (!name)
			continue;
		program->needs_asan |= g_str_has_prefix(name, "libasan.so") ||
				       g_str_has_prefix(name, "libclang_rt.asan");
	}
}

#define NOTE_GNU      "GNU"
#define NOTE_BUILD_ID 3
#define DEBUG_DIR     "/usr/lib/debug/.build-id"

/* Where distributions put what they took out of a file with that note. */
static bool has_debug_file(Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	g_autoptr(GString) path = g_string_new(DEBUG_DIR "/");
	size_t name, desc;
	GElf_Nhdr note;

	if (!data || gelf_getnote(data, 0, &note, &name, &desc) == 0 ||
	    note.n_type != NOTE_BUILD_ID || note.n_descsz < 2 ||
	    strcmp((const char *)data->d_buf + name, NOTE_GNU) != 0)
		return false;
	for (size_t i = 0; i < note.n_descsz; i++)
		g_string_append_printf(path, "%02x%s",
				       ((const unsigned char *)data->d_buf)[desc + i],
				       i == 0 ? "/" : "");
	g_string_append(path, ".debug");
	return access(path->str, R_OK) == 0;
}

static void read_debug(struct pp_program *program, Elf_Scn *section, const GElf_Shdr *header,
		       const char *name)
{
	program->has_symbols |= header->sh_type == SHT_SYMTAB;
	program->has_lines |= strcmp(name, ".debug_line") == 0 || strcmp(name, ".zdebug_line") == 0;
	if (header->sh_type == SHT_NOTE && strcmp(name, ".note.gnu.build-id") == 0)
		program->has_lines |= has_debug_file(section);
}

static void read_elf(struct pp_program *program, Elf *elf)
{
	GElf_Ehdr file;
	GElf_Phdr segment;
	GElf_Shdr header;
	size_t n_segments = 0, names = 0;

	program->is_static = true;
	if (!gelf_getehdr(elf, &file) || file.e_machine != EM_X86_64 ||
	    file.e_ident[EI_CLASS] != ELFCLASS64) {
		program->kind = PP_PROGRAM_FOREIGN;
		return;
	}
	elf_getphdrnum(elf, &n_segments);
	for (size_t i = 0; i < n_segments; i++)
		if (gelf_getphdr(elf, i, &segment) && segment.p_type == PT_INTERP)
			program->is_static = false;
	elf_getshdrstrndx(elf, &names);
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
	     section = elf_nextscn(elf, section)) {
		if (!gelf_getshdr(section, &header))
			continue;
		read_debug(program, section, &header, elf_strptr(elf, names, header.sh_name) ?: "");
		if (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB)
			read_symbols(program, elf, section, &header);
		else if (header.sh_type == SHT_DYNAMIC)
			read_needed(program, elf, section, &header);
	}
}

/* "#! /usr/bin/env python3 -u\n" -> "/usr/bin/env" */
static char *interpreter(const char *text, size_t len)
{
	g_autofree char *line = g_strndup(text, len);
	char *start = line + 2;

	if (len < 2 || memcmp(text, "#!", 2) != 0)
		return NULL;
	start += strspn(start, " \t");
	start[strcspn(start, " \t\r\n")] = '\0';
	return *start ? g_strdup(start) : NULL;
}

static void read_contents(struct pp_program *program, int fd)
{
	char start[256];
	ssize_t n = pread(fd, start, sizeof(start), 0);
	Elf *elf;

	if (n < SELFMAG || memcmp(start, ELFMAG, SELFMAG) != 0) {
		program->kind = PP_PROGRAM_SCRIPT;
		program->interpreter = n > 0 ? interpreter(start, n) : NULL;
		return;
	}
	program->kind = PP_PROGRAM_ELF;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return;
	read_elf(program, elf);
	elf_end(elf);
}

int pp_program_read(const char *name, struct pp_program *program, struct pp_error *err)
{
	struct stat st;
	int rc, fd;

	*program = (struct pp_program){.path = NULL};
	rc = find(name, &program->path);
	if (rc == -ENOENT && !strchr(name, '/'))
		return pp_error_add(err, rc, "%s: command not found", name);
	if (rc)
		return pp_error_add(err, rc, "cannot execute %s: %s", name, g_strerror(-rc));
	fd = open(program->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		/* May be executed but not read: nothing can be said about it. */
		program->counts_calls = true;
	} else {
		program->is_privileged = is_privileged(fd, &st);
		read_contents(program, fd);
	}
	if (fd >= 0)
		close(fd);
	return 0;
}

void pp_program_done(struct pp_program *program)
{
	g_clear_pointer(&program->path, g_free);
	g_clear_pointer(&program->interpreter, g_free);
}

/* Does AddressSanitizer look whether it comes first?  What the environment says comes last. */
static bool asan_verifies_order(const struct pp_program *program)
{
	static const char setting[] = "verify_asan_link_order=";
	const char *options = g_getenv("ASAN_OPTIONS");
	const char *last = options ? g_strrstr(options, setting) : NULL;

	if (!program->needs_asan)
		return false;
	return last ? !strchr("0fn", last[strlen(setting)]) : program->sets_asan;
}

bool pp_program_takes_libraries(const struct pp_program *program)
{
	return program->kind != PP_PROGRAM_FOREIGN && !asan_verifies_order(program);
}

char *pp_program_losses(const struct pp_program *program, bool scheduling)
{
	const char *path = program->path;
	const char *alone = scheduling ? "; scheduling is traced" : "; nothing is traced";

	if (program->kind == PP_PROGRAM_FOREIGN)
		return g_strdup_printf("no call graph, no synchronization: %s is no 64-bit x86 "
				       "program%s",
				       path, alone);
	if (program->is_privileged)
		return g_strdup_printf("no call graph, no synchronization: %s is set-uid, and the "
				       "loader keeps our libraries out (profile a copy of your "
				       "own)%s",
				       path, alone);
	if (!pp_program_takes_libraries(program))
		return g_strdup_printf("no call graph, no synchronization: the AddressSanitizer of "
				       "%s is set to refuse preloaded libraries (run it with "
				       "ASAN_OPTIONS=verify_asan_link_order=0)%s",
				       path, alone);
	if (program->kind == PP_PROGRAM_SCRIPT)
		return g_strdup_printf("%s is a script: traced are %s and what it starts; call "
				       "graphs only of those built with -pg",
				       path, program->interpreter ?: "/bin/sh");
	if (program->is_static && program->has_runtime)
		return g_strdup_printf("no synchronization: %s is linked statically; calls%s are "
				       "traced",
				       path, scheduling ? " and scheduling" : "");
	if (program->is_static)
		return g_strdup_printf("no call graph, no synchronization: %s is linked statically "
				       "(link it dynamically, or with libgmon_mt.a)%s",
				       path, alone);
	if (!program->counts_calls)
		return g_strdup_printf(
		    "no call graph: %s was not built with -pg; synchronization%s "
		    "traced",
		    path, scheduling ? " and scheduling are" : " is");
	return NULL;
}
