/* SPDX-License-Identifier: MIT */
/*
 * Finds the file that execvp() would run, and reads its ELF headers, symbols and needed libraries.
 */
#include "record/program.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <gelf.h>
#include <libelf.h>

#include "record/libraries.h"

/* The kernel's limit of scripts that are run by scripts. */
#define SCRIPTS_MAX 5

/* --- search ---- */

/* Like execvp(): EACCES only if no other entry of PATH succeeds. */
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

static void read_rights(struct pp_program *program, int fd, const struct stat *st)
{
	struct statvfs fs;

	if (fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_NOSUID))
		return;
	program->is_privileged =
	    ((st->st_mode & S_ISUID) && st->st_uid != geteuid()) ||
	    ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st->st_gid != getegid());
	if (program->is_privileged || geteuid() == 0)
		return;
	program->has_capabilities = fgetxattr(fd, "security.capability", NULL, 0) > 0;
	program->is_privileged = program->has_capabilities;
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
		program->needs_openmp |= g_str_has_prefix(name, "libgomp.so");
		program->needs_asan |= g_str_has_prefix(name, "libasan.so") ||
				       g_str_has_prefix(name, "libclang_rt.asan");
	}
}

/* Reads the dynamic loader that the program names; a program without one is static. */
static void read_loader(struct pp_program *program, Elf *elf)
{
	size_t n_segments = 0, file_bytes = 0;
	const char *file = elf_rawfile(elf, &file_bytes);
	GElf_Phdr segment;

	program->is_static = true;
	elf_getphdrnum(elf, &n_segments);
	for (size_t i = 0; i < n_segments; i++) {
		g_autofree char *path = NULL, *name = NULL;

		if (!gelf_getphdr(elf, i, &segment) || segment.p_type != PT_INTERP)
			continue;
		program->is_static = false;
		if (!file || segment.p_offset > file_bytes ||
		    segment.p_filesz > file_bytes - segment.p_offset)
			return;
		path = g_strndup(file + segment.p_offset, segment.p_filesz);
		name = g_path_get_basename(path);
		if (!g_str_has_prefix(name, "ld-linux") && !g_str_has_prefix(name, "ld.so"))
			program->loader = g_steal_pointer(&name);
		return;
	}
}

static void read_elf(struct pp_program *program, Elf *elf)
{
	GElf_Ehdr file;
	GElf_Shdr header;

	program->is_static = true;
	if (!gelf_getehdr(elf, &file)) {
		program->kind = PP_PROGRAM_FOREIGN;
		return;
	}
	read_loader(program, elf);
	if (file.e_machine != EM_X86_64 || file.e_ident[EI_CLASS] != ELFCLASS64) {
		program->kind = PP_PROGRAM_FOREIGN;
		program->is_i386 = file.e_machine == EM_386;
		program->is_x32 = file.e_machine == EM_X86_64;
		return;
	}
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
	     section = elf_nextscn(elf, section)) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB)
			read_symbols(program, elf, section, &header);
		else if (header.sh_type == SHT_DYNAMIC)
			read_needed(program, elf, section, &header);
	}
}

static int read_program(const char *name, unsigned depth, struct pp_program *program,
			struct pp_error *err);

/* Parses "#! /usr/bin/env python3 -u\n" into "/usr/bin/env". */
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

/* A relative name applies to the working directory; the kernel does not search PATH. */
static void read_interpreter(struct pp_program *program, unsigned depth)
{
	const char *name = program->interpreter ?: "/bin/sh";
	g_autofree char *path = strchr(name, '/') ? g_strdup(name) : g_strconcat("./", name, NULL);
	struct pp_error err = PP_ERROR_INIT;

	if (depth == SCRIPTS_MAX)
		return;
	program->runs = g_new0(struct pp_program, 1);
	if (read_program(path, depth + 1, program->runs, &err)) {
		pp_error_done(&err);
		pp_program_done(program->runs);
		g_clear_pointer(&program->runs, g_free);
	}
}

static void read_contents(struct pp_program *program, unsigned depth, int fd)
{
	char start[256];
	ssize_t n = pread(fd, start, sizeof(start), 0);
	Elf *elf;

	if (n < SELFMAG || memcmp(start, ELFMAG, SELFMAG) != 0) {
		program->kind = PP_PROGRAM_SCRIPT;
		program->interpreter = n > 0 ? interpreter(start, n) : NULL;
		/* The kernel ignores set-uid bits and capabilities of scripts. */
		program->is_privileged = program->has_capabilities = false;
		read_interpreter(program, depth);
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

static int read_program(const char *name, unsigned depth, struct pp_program *program,
			struct pp_error *err)
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
		/* Executable but not readable: its properties are unknown. */
		program->counts_calls = true;
	} else {
		read_rights(program, fd, &st);
		read_contents(program, depth, fd);
	}
	if (fd >= 0)
		close(fd);
	return 0;
}

int pp_program_read(const char *name, struct pp_program *program, struct pp_error *err)
{
	return read_program(name, 0, program, err);
}

void pp_program_done(struct pp_program *program)
{
	if (program->runs)
		pp_program_done(program->runs);
	g_clear_pointer(&program->runs, g_free);
	g_clear_pointer(&program->path, g_free);
	g_clear_pointer(&program->interpreter, g_free);
	g_clear_pointer(&program->loader, g_free);
}

/* --- limits of recording ---- */

const struct pp_program *pp_program_image(const struct pp_program *program)
{
	while (program->kind == PP_PROGRAM_SCRIPT && program->runs)
		program = program->runs;
	return program;
}

/*
 * Does AddressSanitizer check that it comes first?  The environment overrides the program's own
 * setting.
 */
static bool asan_verifies_order(const struct pp_program *program)
{
	static const char setting[] = "verify_asan_link_order=";
	const char *options = g_getenv("ASAN_OPTIONS");
	const char *last = options ? g_strrstr(options, setting) : NULL;

	if (!program->needs_asan)
		return false;
	return last ? !strchr("0fn", last[strlen(setting)]) : program->sets_asan;
}

const char *pp_program_obstacle(const struct pp_program *program)
{
	const struct pp_program *image = pp_program_image(program);

	if (image->kind == PP_PROGRAM_FOREIGN)
		return image->is_i386 || image->is_x32
			   ? "is a 32-bit program, not a 64-bit x86 program"
			   : "is not a 64-bit x86 program";
	if (image->has_capabilities)
		return "has file capabilities, and the loader keeps our libraries out (profile a "
		       "copy of your own)";
	if (image->is_privileged)
		return "is set-uid or set-gid, and the loader keeps our libraries out (profile a "
		       "copy of your own)";
	if (image->loader)
		return "uses another C library than glibc";
	if (asan_verifies_order(image))
		return "has an AddressSanitizer that is set to refuse preloaded libraries (run it "
		       "with ASAN_OPTIONS=verify_asan_link_order=0)";
	if (image->is_static && !image->has_runtime)
		return "is linked statically (link it dynamically, or with libgmon_mt.a)";
	return NULL;
}

bool pp_program_takes_libraries(const struct pp_program *program, char *const *libraries)
{
	const struct pp_program *image = pp_program_image(program);

	if (image->kind == PP_PROGRAM_FOREIGN)
		return (image->is_i386 || image->is_x32) &&
		       pp_libraries_have_stub(libraries, image->is_x32);
	if (image->loader)
		return pp_libraries_have_tree(libraries);
	return !asan_verifies_order(image);
}

char *pp_program_losses(const struct pp_program *program, bool scheduling, bool samples)
{
	const struct pp_program *image = pp_program_image(program);
	const char *obstacle = pp_program_obstacle(program);
	const char *alone = scheduling ? "; scheduling is traced" : "; nothing is traced";
	const char *path = program->path;

	if (obstacle && image != program)
		return g_strdup_printf(
		    "no call graph, no synchronization of the script %s itself: "
		    "its interpreter %s %s; the programs that it starts are traced",
		    path, image->path, obstacle);
	if (obstacle)
		return g_strdup_printf("no call graph, no synchronization: %s %s%s", path, obstacle,
				       alone);
	if (program->kind == PP_PROGRAM_SCRIPT)
		return g_strdup_printf(
		    "%s is a script: %s and the programs that it starts are traced; call "
		    "graphs cover only those built with -pg",
		    path, program->interpreter ?: "/bin/sh");
	if (program->is_static)
		return g_strdup_printf("no synchronization: %s is linked statically; calls%s are "
				       "traced",
				       path, scheduling ? " and scheduling" : "");
	if (!program->counts_calls)
		return g_strdup_printf("%s: %s was not built with -pg; synchronization%s traced",
				       samples ? "no counts of calls, a profile from samples"
					       : "no call graph",
				       path, scheduling ? " and scheduling are" : " is");
	return NULL;
}
