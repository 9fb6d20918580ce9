/* SPDX-License-Identifier: MIT */
/*
 * A mapping of a file leads to the object's bias by the segment that begins at its offset.  The
 * file is opened by its name, or, if it was deleted since, by its entry in /proc/PID/map_files,
 * which needs privileges.
 */
#include "record/attach/maps.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>
#include <libelf.h>

#define DELETED " (deleted)"

struct mapping {
	uint64_t start, end, offset, inode;
	char *path; /* as the kernel shows it */
	bool is_code;
};

struct object {
	uint64_t start, end, bias;
	char *build_id; /* NULL: none */
};

static void mapping_clear(void *data)
{
	g_free(((struct mapping *)data)->path);
}

/* The kernel writes a newline in a name as \012. */
static char *unescape(const char *path)
{
	g_auto(GStrv) parts = g_strsplit(path, "\\012", -1);

	return g_strjoinv("\n", parts);
}

static GArray *read_mappings(pid_t pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/maps", pid), *text = NULL;
	GArray *mappings = g_array_new(FALSE, FALSE, sizeof(struct mapping));
	g_auto(GStrv) lines = NULL;

	g_array_set_clear_func(mappings, mapping_clear);
	if (!g_file_get_contents(path, &text, NULL, NULL))
		return mappings;
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		struct mapping mapping = {0};
		char rights[8];
		int at = 0;

		if (sscanf(*line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %" SCNu64 " %n",
			   &mapping.start, &mapping.end, rights, &mapping.offset, &mapping.inode,
			   &at) < 5 ||
		    !mapping.inode || (*line)[at] != '/')
			continue;
		mapping.is_code = strchr(rights, 'x') != NULL;
		mapping.path = unescape(*line + at);
		g_array_append_val(mappings, mapping);
	}
	return mappings;
}

static char *hexadecimal(const unsigned char *bytes, size_t n)
{
	GString *text = g_string_new(NULL);

	for (size_t i = 0; i < n; i++)
		g_string_append_printf(text, "%02x", bytes[i]);
	return g_string_free(text, FALSE);
}

static char *read_build_id(Elf *elf, const GElf_Phdr *header)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header->p_offset, header->p_filesz,
					      header->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t at = 0, name, id;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name, &id)) > 0)
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp((char *)data->d_buf + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0)
			return hexadecimal((unsigned char *)data->d_buf + id, note.n_descsz);
	return NULL;
}

/* Sets the bias from the segment that this mapping shows; false: it shows none. */
static bool find_bias(Elf *elf, size_t n, const struct mapping *mapping, uint64_t *ret_bias)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	GElf_Phdr header;

	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
		    header.p_offset / page == mapping->offset / page) {
			*ret_bias = mapping->start - header.p_vaddr / page * page;
			return true;
		}
	return false;
}

static bool read_object(Elf *elf, const struct mapping *mapping, struct object *object)
{
	uint64_t low = UINT64_MAX, high = 0;
	GElf_Phdr header;
	size_t n = 0;

	*object = (struct object){.build_id = NULL};
	if (elf_getphdrnum(elf, &n) || !find_bias(elf, n, mapping, &object->bias))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &header))
			continue;
		if (header.p_type == PT_NOTE && !object->build_id)
			object->build_id = read_build_id(elf, &header);
		if (header.p_type != PT_LOAD)
			continue;
		low = MIN(low, header.p_vaddr);
		high = MAX(high, header.p_vaddr + header.p_memsz);
	}
	object->start = object->bias + low;
	object->end = object->bias + high;
	return low < high;
}

static int open_file(pid_t pid, const struct mapping *mapping)
{
	g_autofree char *link = NULL;

	if (!g_str_has_suffix(mapping->path, DELETED))
		return open(mapping->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	link = g_strdup_printf("/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->start,
			       mapping->end);
	return open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static void add_line(GString *text, int64_t time_ns, const struct object *object, const char *path)
{
	g_string_append_printf(text, "%" PRId64 " load %" PRIx64 " %" PRIx64 " %" PRIx64 " %s ",
			       time_ns, object->start, object->end, object->bias,
			       object->build_id ?: "-");
	for (; *path; path++) {
		if (*path == '\n')
			g_string_append(text, "\\n");
		else if (*path == '\\')
			g_string_append(text, "\\\\");
		else
			g_string_append_c(text, *path);
	}
	g_string_append_c(text, '\n');
}

/* Returns true if the object's line was added. */
static bool add_object(pid_t pid, const struct mapping *mapping, int64_t time_ns, GString *text)
{
	int fd = open_file(pid, mapping);
	Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	struct object object = {.build_id = NULL};
	bool is_known = elf && elf_kind(elf) == ELF_K_ELF && read_object(elf, mapping, &object);

	if (is_known)
		add_line(text, time_ns, &object, mapping->path);
	g_free(object.build_id);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return is_known;
}

static bool is_same_file(const struct mapping *a, const struct mapping *b)
{
	return a->inode == b->inode && strcmp(a->path, b->path) == 0;
}

/* Was the object of this mapping handled with an earlier one? */
static bool is_listed(const GArray *mappings, guint at)
{
	const struct mapping *mapping = &g_array_index(mappings, struct mapping, at);

	for (guint i = 0; i < at; i++) {
		const struct mapping *other = &g_array_index(mappings, struct mapping, i);

		if (other->is_code && is_same_file(other, mapping))
			return true;
	}
	return false;
}

/* The kernel's functions that run in the process: in memory only, linked to address 0. */
static void add_vdso(pid_t pid, int64_t time_ns, GString *text)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/maps", pid), *maps = NULL;
	g_auto(GStrv) lines = NULL;

	if (g_file_get_contents(path, &maps, NULL, NULL))
		lines = g_strsplit(maps, "\n", -1);
	for (char **line = lines; line && *line; line++) {
		struct object object = {.build_id = NULL};

		if (!g_str_has_suffix(*line, "[vdso]") ||
		    sscanf(*line, "%" SCNx64 "-%" SCNx64, &object.start, &object.end) != 2)
			continue;
		object.bias = object.start;
		add_line(text, time_ns, &object, "linux-vdso.so.1");
	}
}

/* Adds the executable, or all other objects.  Returns the number of unreadable ones. */
static unsigned add_objects(pid_t pid, const GArray *mappings, const char *executable,
			    bool is_first, int64_t time_ns, GString *text)
{
	unsigned n_unknown = 0;

	for (guint i = 0; i < mappings->len; i++) {
		const struct mapping *mapping = &g_array_index(mappings, struct mapping, i);

		if (!mapping->is_code || is_listed(mappings, i) ||
		    (g_strcmp0(mapping->path, executable) == 0) != is_first)
			continue;
		n_unknown += !add_object(pid, mapping, time_ns, text);
	}
	return n_unknown;
}

unsigned pp_target_maps_add(pid_t pid, int64_t time_ns, GString *text)
{
	g_autofree char *link = g_strdup_printf("/proc/%d/exe", pid);
	g_autofree char *executable = g_file_read_link(link, NULL);
	g_autoptr(GArray) mappings = read_mappings(pid);
	unsigned n_unknown;

	elf_version(EV_CURRENT);
	n_unknown = add_objects(pid, mappings, executable, true, time_ns, text) +
		    add_objects(pid, mappings, executable, false, time_ns, text);
	add_vdso(pid, time_ns, text);
	return n_unknown;
}
