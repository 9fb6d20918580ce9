/* SPDX-License-Identifier: MIT */
/*
 * The load map: which object was mapped where, with its build-id, appended to <pid>/maps as objects
 * are first met.
 *
 * dlopen() is not interposed: that would change $ORIGIN and the caller the loader sees.  Instead
 * all objects are noted at the start and the end, and in between whenever an address turns up that
 * lies in none of the noted ones (_dl_find_object(), glibc 2.35, is lock-free).
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include "runtime/futex.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"
#include "runtime/threads.h"

#define OBJECTS_MAX  512u
#define BUILD_ID_MAX 32u

static struct gm_object objects[OBJECTS_MAX];
static uint32_t n_objects;    /* those before it are complete */
static uint32_t objects_lock; /* held for a few stores and one write() */

extern int _dl_find_object(void *, struct dl_find_object *) __attribute__((weak));

void gm_maps_forget(void)
{
	n_objects = 0;
	objects_lock = 0;
}

const struct gm_object *gm_maps_find(uint64_t address)
{
	uint32_t n = __atomic_load_n(&n_objects, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++)
		if (address >= objects[i].start && address < objects[i].end)
			return &objects[i];
	return NULL;
}

static void add_build_id(struct gm_text *text, uint64_t bias, const ElfW(Phdr) * headers,
			 unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const char *note = (const char *)(bias + headers[i].p_vaddr);
		const char *end = note + headers[i].p_memsz;

		if (headers[i].p_type != PT_NOTE)
			continue;
		while (note + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *header = (const void *)note;
			const char *name = note + sizeof(*header);
			const char *id = name + ((header->n_namesz + 3u) & ~3u);

			if (id + header->n_descsz > end)
				break;
			if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
			    memcmp(name, "GNU", 4) == 0 && header->n_descsz <= BUILD_ID_MAX) {
				for (unsigned j = 0; j < header->n_descsz; j++) {
					unsigned char byte = (unsigned char)id[j];

					gm_text_add_hex(text, byte >> 4);
					gm_text_add_hex(text, byte & 15);
				}
				return;
			}
			note = id + ((header->n_descsz + 3u) & ~3u);
		}
	}
	gm_text_add(text, "-");
}

static void add_escaped(struct gm_text *text, const char *path)
{
	for (; *path != '\0'; path++) {
		if (*path == '\n')
			gm_text_add(text, "\\n");
		else if (*path == '\\')
			gm_text_add(text, "\\\\");
		else
			gm_text_add_bytes(text, path, 1);
	}
}

static bool is_relative(const char *path)
{
	if (*path == '/')
		return false;
	while (*path != '\0' && *path != '/')
		path++;
	return *path == '/'; /* else the kernel's own object, which is no file */
}

/* The loader's name of an object: of the program none, of what dlopen() got what it was given. */
static void add_path(struct gm_text *text, const char *path, char *scratch)
{
	long n;

	if (path[0] == '\0') {
		n = gm_syscall3(SYS_readlink, (long)"/proc/self/exe", (long)scratch,
				GM_PATH_MAX - 1);
		scratch[n > 0 ? n : 0] = '\0';
		path = scratch;
	} else if (is_relative(path)) {
		n = gm_syscall3(SYS_getcwd, (long)scratch, GM_PATH_MAX, 0);
		if (n > 0 && scratch[0] == '/') {
			add_escaped(text, scratch);
			gm_text_add(text, "/");
		}
	}
	add_escaped(text, path);
}

/* Everything of *object but its name, from the program headers of an object mapped at bias. */
static void describe(struct gm_object *object, uint64_t bias, const ElfW(Phdr) * headers,
		     unsigned n)
{
	const ElfW(Ehdr) * elf;

	*object = (struct gm_object){.start = UINT64_MAX, .text_start = UINT64_MAX, .bias = bias};
	for (unsigned i = 0; i < n; i++) {
		uint64_t start = bias + headers[i].p_vaddr;
		uint64_t end = start + headers[i].p_memsz;

		if (headers[i].p_type == PT_DYNAMIC)
			for (const ElfW(Dyn) *dyn = (const void *)start; dyn->d_tag != DT_NULL;
			     dyn++)
				if (dyn->d_tag == DT_INIT)
					object->entry = bias + dyn->d_un.d_ptr;
		if (headers[i].p_type != PT_LOAD)
			continue;
		object->start = start < object->start ? start : object->start;
		object->end = end > object->end ? end : object->end;
		if ((headers[i].p_flags & PF_X) == 0)
			continue;
		object->text_start = start < object->text_start ? start : object->text_start;
		object->text_end = end > object->text_end ? end : object->text_end;
	}
	if (object->end == 0)
		return;
	elf = (const void *)object->start;
	if (memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0 && elf->e_entry != 0)
		object->entry = bias + elf->e_entry;
	object->executable = object->entry != 0 && object->entry == gm_entry_point();
}

static bool name_taken(const char *name)
{
	for (uint32_t i = 0; i < n_objects; i++)
		if (gm_strcmp(objects[i].name, name) == 0)
			return true;
	return false;
}

/* The file's name, cut to fit; if another file has that name, with "~2" and so on behind it. */
static void set_name(struct gm_object *object, const char *path)
{
	const char *base = path;

	object->file = 0xcbf29ce484222325u; /* FNV-1a */
	for (; *path != '\0'; path++) {
		object->file = (object->file ^ (unsigned char)*path) * 0x100000001b3u;
		if (*path == '/')
			base = path + 1;
	}
	for (uint32_t i = 0; i < n_objects; i++)
		if (objects[i].file == object->file) {
			memcpy(object->name, objects[i].name, sizeof(object->name));
			return;
		}
	for (unsigned i = 1; i == 1 || name_taken(object->name); i++) {
		size_t n = gm_strlen(base), max = GM_OBJECT_NAME_BYTES - sizeof("~999");
		struct gm_text name = GM_TEXT(object->name);

		gm_text_add_bytes(&name, base, n < max ? n : max);
		if (i > 1) {
			gm_text_add(&name, "~");
			gm_text_add_u64(&name, i);
		}
	}
}

static void write_line(const struct gm_object *object, const char *path, const ElfW(Phdr) * headers,
		       unsigned n_headers)
{
	const struct gm_process *process = gm_process_get();
	/* 3 pages: the line, the file's name, the executable's path; stacks may be small. */
	size_t size_bytes = 4 * GM_PATH_MAX;
	char *scratch;
	struct gm_text line, file;
	int fd;

	if (process == NULL)
		return;
	scratch = gm_sys_mmap(size_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (scratch == NULL)
		return;
	file = (struct gm_text){scratch, GM_PATH_MAX, 0};
	line = (struct gm_text){scratch + 2 * GM_PATH_MAX, 2 * GM_PATH_MAX, 0};
	gm_text_add(&file, process->dir);
	gm_text_add(&file, "/maps");

	gm_text_add_u64(&line, gm_clock_ns());
	gm_text_add(&line, " load ");
	gm_text_add_hex(&line, object->start);
	gm_text_add(&line, " ");
	gm_text_add_hex(&line, object->end);
	gm_text_add(&line, " ");
	gm_text_add_hex(&line, object->bias);
	gm_text_add(&line, " ");
	add_build_id(&line, object->bias, headers, n_headers);
	gm_text_add(&line, " ");
	add_path(&line, path, scratch + GM_PATH_MAX);
	gm_text_add(&line, "\n");

	fd = gm_sys_open(scratch, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0600);
	if (fd >= 0) {
		if (line.length < line.size_bytes)
			gm_write_quietly(fd, line.buffer, line.length);
		gm_sys_close(fd);
	}
	gm_sys_munmap(scratch, size_bytes);
}

static void note_object(uint64_t bias, const char *path, const ElfW(Phdr) * headers,
			unsigned n_headers)
{
	struct gm_object *object;
	uint64_t mask;

	gm_signals_block(&mask);
	gm_futex_lock(&objects_lock);
	if (n_objects < OBJECTS_MAX) {
		object = &objects[n_objects];
		describe(object, bias, headers, n_headers);
		set_name(object, path);
		if (object->end > 0 && gm_maps_find(object->start) == NULL) {
			write_line(object, path, headers, n_headers);
			/* release: pairs with the acquire in gm_maps_find() */
			__atomic_store_n(&n_objects, n_objects + 1, __ATOMIC_RELEASE);
		}
	}
	gm_futex_unlock(&objects_lock);
	gm_signals_restore(mask);
}

static int note_phdr(struct dl_phdr_info *info, size_t size_bytes, void *data)
{
	(void)size_bytes;
	(void)data;
	note_object(info->dlpi_addr, info->dlpi_name, info->dlpi_phdr, info->dlpi_phnum);
	return 0;
}

void gm_maps_update(void)
{
	if (gm_process_get() != NULL)
		dl_iterate_phdr(note_phdr, NULL);
}

uint64_t gm_entry_point(void)
{
	return getauxval(AT_ENTRY);
}

bool gm_maps_note(uint64_t address, struct gm_object *ret_object)
{
	const struct gm_object *object = gm_maps_find(address);
	struct dl_find_object found;
	const ElfW(Ehdr) * elf;

	if (object == NULL) {
		if (_dl_find_object == NULL || _dl_find_object((void *)address, &found) != 0)
			return false;
		elf = found.dlfo_map_start;
		if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0)
			return false;
		note_object(found.dlfo_link_map->l_addr, found.dlfo_link_map->l_name,
			    (const void *)((const char *)elf + elf->e_phoff), elf->e_phnum);
		object = gm_maps_find(address);
		if (object == NULL)
			return false;
	}
	if (ret_object != NULL)
		*ret_object = *object;
	return true;
}
