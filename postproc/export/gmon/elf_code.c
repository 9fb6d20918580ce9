/* SPDX-License-Identifier: MIT */
/*
 * Reads the program headers and the build-id of an ELF file, to get the address range of its code.
 */
#include "export/gmon/elf_code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <glib.h>

static bool has_build_id(Elf *elf, const char *expected)
{
	const void *bits;
	ssize_t len = dwelf_elf_gnu_build_id(elf, &bits);
	g_autoptr(GString) text = g_string_new(NULL);

	for (ssize_t i = 0; i < len; i++)
		g_string_append_printf(text, "%02x", ((const unsigned char *)bits)[i]);
	return g_str_equal(text->str, expected);
}

static uint64_t find_init(Elf *elf, const GElf_Phdr *dynamic)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, dynamic->p_offset, dynamic->p_filesz, ELF_T_DYN);
	GElf_Dyn entry;

	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
		if (entry.d_tag == DT_INIT)
			return entry.d_un.d_ptr;
	return 0;
}

static const char *read_headers(Elf *elf, struct pp_elf_code *code)
{
	GElf_Ehdr header;
	size_t n_segments;

	if (!gelf_getehdr(elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf_getphdrnum(elf, &n_segments))
		return "not a 64-bit ELF file";
	*code = (struct pp_elf_code){.start = UINT64_MAX, .entry = header.e_entry};
	for (size_t i = 0; i < n_segments; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, i, &segment))
			return "damaged ELF file";
		if (segment.p_type == PT_DYNAMIC && !code->entry)
			code->entry = find_init(elf, &segment);
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
			continue;
		code->start = MIN(code->start, segment.p_vaddr);
		code->end = MAX(code->end, segment.p_vaddr + segment.p_memsz);
	}
	return code->start < code->end ? NULL : "no code";
}

static const char *open_file(const char *path, int *ret_fd)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return errno == ENOENT ? "no such file" : g_strerror(errno);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return "not a regular file";
	}
	*ret_fd = fd;
	return NULL;
}

const char *pp_elf_code_read(const char *path, const char *build_id, struct pp_elf_code *ret)
{
	struct pp_elf_code code;
	const char *why;
	Elf *elf;
	int fd = -1;

	/* Only a build-id can verify a file whose relative path was resolved by the program. */
	if (!g_path_is_absolute(path) && !build_id)
		return "its path is relative";
	why = open_file(path, &fd);
	if (why)
		return why;
	elf_version(EV_CURRENT);
	/* Read instead of mapped: the file may be truncated meanwhile. */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		why = "not an ELF file";
	else if (build_id && !has_build_id(elf, build_id))
		why = "build-id differs";
	else
		why = read_headers(elf, &code);
	elf_end(elf);
	close(fd);
	if (!why)
		*ret = code;
	return why;
}
