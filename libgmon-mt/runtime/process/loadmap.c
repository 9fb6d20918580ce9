/* SPDX-License-Identifier: MIT */
/*
 * The load map: each object with its build-id and addresses, appended to <pid>/maps when the object
 * is first seen.
 *
 * dlopen() is not interposed: that would change $ORIGIN and the caller that the loader sees.
 * Instead all objects are noted at the start and the end, and in between whenever an address is in
 * none of the noted objects (_dl_find_object(), glibc 2.35, is lock-free), or in one that is no
 * longer mapped.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>

#include "gmon-mt/children.h"
#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/process/loadmap.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/sys/auxv.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/lock.h"
#include "runtime/sys/sys.h"

#define BLOCK_OBJECTS 512u
#define BLOCKS_MAX    64u
#define OBJECTS_MAX   (BLOCKS_MAX * BLOCK_OBJECTS - 1) /* the last number is for the others */
#define BUILD_ID_MAX  32u
#define PAGE_BYTES    4096u
_Static_assert(GM_FIRST_PLACE_CALLS + OBJECTS_MAX <= GM_FIRST_PLACE_SYNC, "a place each");
_Static_assert(GM_FIRST_PLACE_SYNC + OBJECTS_MAX <= GM_PLACE_NONE, "a place each");

/*
 * Programs that compile code load many objects. The entries never move, since they are read without
 * the lock.
 */
static GM_LARGE struct gm_object first_block[BLOCK_OBJECTS];
static struct gm_object *blocks[BLOCKS_MAX] = {first_block};
static uint32_t n_objects;	    /* entries below it are complete */
static struct gm_lock objects_lock; /* with signals blocked; taken before other locks of ours */
static void (*on_move)(struct gm_object *, uint64_t) = gm_object_move;
static uint64_t first_place = GM_FIRST_PLACE_CALLS;
void (*gm_maps_on_leave)(uint64_t start, uint64_t end);

extern int _dl_find_object(void *, struct dl_find_object *) __attribute__((weak));
int (*gm_find_object)(void *, struct dl_find_object *) = _dl_find_object;
bool gm_find_object_is_safe;

void gm_maps_forget(void)
{
	n_objects = 0;
	objects_lock = (struct gm_lock){0};
}

static struct gm_object *object_at(uint32_t i)
{
	return &blocks[i / BLOCK_OBJECTS][i % BLOCK_OBJECTS];
}

bool gm_maps_inherit(struct gm_child *child)
{
	uint64_t end = 0, seen = __atomic_load_n(&child->maps_bytes, __ATOMIC_RELAXED);

	/* Another thread of the parent was changing the list. */
	if (objects_lock.word != 0)
		return false;
	for (uint32_t i = 0; i < n_objects; i++) {
		const struct gm_object *object = object_at(i);

		if (object->line_bytes == 0)
			return false;
		if (object->line_at + object->line_bytes > end)
			end = object->line_at + object->line_bytes;
	}
	/* The other library made the child's folder, with a copy of `seen` bytes. */
	if (__atomic_load_n(&child->folder, __ATOMIC_ACQUIRE) != 0)
		return end <= seen;
	while (seen < end && !__atomic_compare_exchange_n(&child->maps_bytes, &seen, end, true,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return true;
}

const struct gm_object *gm_maps_find(uint64_t address)
{
	uint32_t n = __atomic_load_n(&n_objects, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++) {
		const struct gm_object *object = object_at(i);

		if (address >= object->start && address < object->end)
			return object;
	}
	return NULL;
}

unsigned gm_maps_of_file(const struct gm_object *file, const struct gm_object **ret, unsigned max)
{
	/* acquire: pairs with the release in note_object() */
	uint32_t n_all = __atomic_load_n(&n_objects, __ATOMIC_ACQUIRE);
	unsigned n = 0;

	for (uint32_t i = 0; i < n_all; i++) {
		if (object_at(i)->file != file->file)
			continue;
		if (n < max)
			ret[n] = object_at(i);
		n++;
	}
	return n;
}

/*
 * An object as described by the loader. `path` and `headers` are safe to read; so are its segments,
 * unless another thread may be unloading it.
 */
struct module {
	uint64_t bias;
	const char *path;
	const ElfW(Phdr) * headers;
	unsigned n;
	bool may_be_unloaded;
};

/* Copies bytes at an address in the module. Returns false if they are not mapped. */
static bool peek(const struct module *module, void *into, uint64_t address, size_t n_bytes)
{
	if (module->may_be_unloaded)
		return gm_memory_read(into, address, n_bytes);
	memcpy(into, (const void *)address, n_bytes);
	return true;
}

/* Returns the length of the build-id in these notes; 0: none. */
static unsigned build_id_of(const struct module *module, uint64_t note, uint64_t end,
			    unsigned char *ret_id)
{
	struct {
		ElfW(Nhdr) header;
		char name[4];
	} start;
	uint64_t id;

	while (note + sizeof(start) <= end) {
		if (!peek(module, &start, note, sizeof(start)))
			return 0;
		id = note + sizeof(start.header) + ((start.header.n_namesz + 3ull) & ~3ull);
		if (id + start.header.n_descsz > end)
			return 0;
		if (start.header.n_type == NT_GNU_BUILD_ID && start.header.n_namesz == 4 &&
		    memcmp(start.name, "GNU", 4) == 0 && start.header.n_descsz <= BUILD_ID_MAX)
			return peek(module, ret_id, id, start.header.n_descsz)
				   ? start.header.n_descsz
				   : 0;
		note = id + ((start.header.n_descsz + 3ull) & ~3ull);
	}
	return 0;
}

static unsigned find_build_id(const struct module *module, unsigned char ret_id[BUILD_ID_MAX])
{
	unsigned n_bytes = 0;

	for (unsigned i = 0; i < module->n && n_bytes == 0; i++) {
		const ElfW(Phdr) *header = &module->headers[i];
		uint64_t start = module->bias + header->p_vaddr;

		if (header->p_type == PT_NOTE)
			n_bytes = build_id_of(module, start, start + header->p_memsz, ret_id);
	}
	return n_bytes;
}

static void add_build_id(struct gm_text *text, const unsigned char *id, unsigned n_bytes)
{
	if (n_bytes == 0)
		gm_text_add(text, "-");
	for (unsigned i = 0; i < n_bytes; i++) {
		gm_text_add_hex(text, id[i] >> 4);
		gm_text_add_hex(text, id[i] & 15);
	}
}

/* FNV-1a */
static uint64_t hash_bytes(const void *bytes, size_t n)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (const unsigned char *p = bytes; n > 0; n--, p++)
		hash = (hash ^ *p) * 0x100000001b3u;
	return hash;
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
	return *path == '/'; /* otherwise the kernel's own object, which is not a file */
}

/* Without /proc, as in many chroots: the name by which the program was executed. */
static const char *program_path(char *scratch)
{
	long n = gm_syscall3(SYS_readlink, (long)"/proc/self/exe", (long)scratch, GM_PATH_MAX - 1);
	const char *executed = (const char *)gm_auxv(AT_EXECFN);

	if (n <= 0)
		return executed != NULL && executed[0] != '\0' ? executed : "program";
	scratch[n] = '\0';
	return scratch;
}

/*
 * Adds the path of an object. The loader has no name for the program, and for others the name
 * passed to dlopen().
 */
static void add_path(struct gm_text *text, const char *path, char *scratch)
{
	long n;

	if (path[0] == '\0')
		path = program_path(scratch);
	if (is_relative(path)) {
		n = gm_syscall3(SYS_getcwd, (long)scratch, GM_PATH_MAX, 0);
		if (n > 0 && scratch[0] == '/') {
			add_escaped(text, scratch);
			gm_text_add(text, "/");
		}
	}
	add_escaped(text, path);
}

/* Returns the address of its DT_INIT function; 0: none. */
static uint64_t init_of(const struct module *module, uint64_t dynamic)
{
	ElfW(Dyn) entry;

	for (; peek(module, &entry, dynamic, sizeof(entry)); dynamic += sizeof(entry)) {
		if (entry.d_tag == DT_INIT)
			return module->bias + entry.d_un.d_ptr;
		if (entry.d_tag == DT_NULL)
			break;
	}
	return 0;
}

/* Fills in *object except name and file. */
static void describe(struct gm_object *object, const struct module *module)
{
	ElfW(Ehdr) elf;
	unsigned char id[BUILD_ID_MAX];
	unsigned n_bytes;

	*object =
	    (struct gm_object){.start = UINT64_MAX, .text_start = UINT64_MAX, .bias = module->bias};
	for (unsigned i = 0; i < module->n; i++) {
		const ElfW(Phdr) *header = &module->headers[i];
		uint64_t start = module->bias + header->p_vaddr;
		uint64_t end = start + header->p_memsz;

		if (header->p_type == PT_DYNAMIC)
			object->entry = init_of(module, start);
		if (header->p_type != PT_LOAD)
			continue;
		object->start = start < object->start ? start : object->start;
		object->end = end > object->end ? end : object->end;
		if ((header->p_flags & PF_X) == 0)
			continue;
		object->text_start = start < object->text_start ? start : object->text_start;
		object->text_end = end > object->text_end ? end : object->text_end;
	}
	if (object->end == 0)
		return;
	n_bytes = find_build_id(module, id);
	object->build_id = n_bytes == 0 ? 0 : hash_bytes(id, n_bytes);
	if (peek(module, &elf, object->start, sizeof(elf)) &&
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 && elf.e_entry != 0)
		object->entry = module->bias + elf.e_entry;
	object->executable = object->entry != 0 && object->entry == gm_entry_point();
}

/* Returns the number of `name` among those called `base`: 1 without "~"; 0: it is none of them. */
static uint32_t number_of(const char *name, const char *base)
{
	size_t n = gm_strlen(base);

	if (memcmp(name, base, n) != 0)
		return 0;
	if (name[n] == '\0')
		return 1;
	return name[n] == '~' ? (uint32_t)gm_parse_u64(name + n + 1, NULL) : 0;
}

/* Sets the file's name, cut to fit. If another file has that name, appends "~2" and so on. */
static void set_name(struct gm_object *object, const char *path)
{
	const char *base = gm_base_name(path);
	char cut[GM_OBJECT_NAME_BYTES - GM_OBJECT_NUMBER_BYTES + 1];
	struct gm_text text = GM_TEXT(cut), name = GM_TEXT(object->name);
	uint32_t taken = 0;

	gm_text_add_bytes(&text, base,
			  gm_strlen(base) < sizeof(cut) ? gm_strlen(base) : sizeof(cut) - 1);
	for (uint32_t i = 0; i < n_objects; i++) {
		uint32_t number = number_of(object_at(i)->name, cut);

		if (object_at(i)->file == object->file) {
			memcpy(object->name, object_at(i)->name, sizeof(object->name));
			return;
		}
		taken = number > taken ? number : taken;
	}
	gm_text_add(&name, cut);
	if (taken > 0) {
		gm_text_add(&name, "~");
		gm_text_add_u64(&name, taken + 1);
	}
}

/* Scratch memory, since stacks may be small: the file's name, a path, the line. */
struct scratch {
	char file[GM_PATH_MAX], path[GM_PATH_MAX], line[2 * GM_PATH_MAX];
};

static void add_place(struct gm_text *line, const struct gm_object *object)
{
	gm_text_add_u64(line, gm_clock_ns());
	gm_text_add(line, " load ");
	gm_text_add_hex(line, object->start);
	gm_text_add(line, " ");
	gm_text_add_hex(line, object->end);
	gm_text_add(line, " ");
	gm_text_add_hex(line, object->bias);
	gm_text_add(line, " ");
}

/* Returns -1 if there is no such file. */
static int open_maps(struct scratch *scratch, int access)
{
	const struct gm_process *process = gm_process_get();
	struct gm_text file = GM_TEXT(scratch->file);

	if (process == NULL || gm_process_folder() != 0)
		return -1;
	gm_text_add(&file, process->dir);
	gm_text_add(&file, "/maps");
	return gm_sys_open(scratch->file, access | O_APPEND | O_CREAT | O_NOFOLLOW, 0600);
}

static void append(int fd, const struct gm_text *line, struct gm_object *object)
{
	long end;

	object->line_bytes = 0;
	if (line->length >= line->size_bytes ||
	    gm_write_quietly(fd, line->buffer, line->length) != (long)line->length)
		return;
	/* Other processes append, too; this descriptor's position is the end of its own write. */
	end = gm_syscall3(SYS_lseek, fd, 0, SEEK_CUR);
	if (end < (long)line->length)
		return;
	object->line_at = (uint64_t)end - line->length;
	object->line_bytes = (uint32_t)line->length;
}

struct listing {
	struct gm_object *object;
	const struct module *module;
};

static long list_step(void *arg)
{
	const struct listing *listing = arg;
	struct gm_object *object = listing->object;
	struct scratch *scratch = gm_sys_mmap(sizeof(*scratch), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char id[BUILD_ID_MAX];
	unsigned n_bytes = find_build_id(listing->module, id);
	struct gm_text line;
	int fd;

	if (scratch == NULL)
		return -ENOMEM;
	fd = open_maps(scratch, O_WRONLY);
	if (fd >= 0) {
		line = GM_TEXT(scratch->line);
		add_place(&line, object);
		add_build_id(&line, id, n_bytes);
		gm_text_add(&line, " ");
		add_path(&line, listing->module->path, scratch->path);
		gm_text_add(&line, "\n");
		append(fd, &line, object);
		gm_sys_close(fd);
	}
	gm_sys_munmap(scratch, sizeof(*scratch));
	return 0;
}

static void list(struct gm_object *object, const struct module *module)
{
	struct listing listing = {object, module};

	gm_files_run(list_step, &listing);
}

/* Lists an object again at another address, with the rest of its last line. */
static long list_again_step(void *arg)
{
	struct gm_object *object = arg;
	struct scratch *scratch;
	uint32_t n = object->line_bytes, at = 0;
	struct gm_text line;
	int fd;

	if (n == 0 || n >= sizeof(scratch->line))
		return -EINVAL;
	scratch = gm_sys_mmap(2 * sizeof(*scratch), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (scratch == NULL)
		return -ENOMEM;
	fd = open_maps(scratch, O_RDWR);
	if (fd >= 0) {
		char *old = scratch[1].line;

		line = GM_TEXT(scratch->line);
		add_place(&line, object);
		if (gm_syscall6(SYS_pread64, fd, (long)old, n, (long)object->line_at, 0, 0) == n)
			for (unsigned blanks = 0; at < n && blanks < 5; at++)
				blanks += old[at] == ' ';
		gm_text_add_bytes(&line, old + at, n - at);
		if (at > 0)
			append(fd, &line, object);
		gm_sys_close(fd);
	}
	gm_sys_munmap(scratch, 2 * sizeof(*scratch));
	return 0;
}

void gm_object_move(struct gm_object *object, uint64_t by)
{
	object->start += by;
	object->end += by;
	object->text_start += by;
	object->text_end += by;
	object->bias += by;
	object->entry += object->entry != 0 ? by : 0;
}

void gm_maps_on_move(void (*move)(struct gm_object *object, uint64_t by), uint64_t first)
{
	on_move = move;
	first_place = first;
}

/*
 * Lists the object at its new address first: after a kill in between, all addresses still have
 * names.
 */
static void move(struct gm_object *object, uint64_t by)
{
	struct gm_object moved = *object;

	gm_object_move(&moved, by);
	gm_files_run(list_again_step, &moved);
	object->line_at = moved.line_at;
	object->line_bytes = moved.line_bytes;
	on_move(object, by);
}

static void leave(uint64_t start, uint64_t end)
{
	/* acquire: pairs with the release in learn(), runtime/unwind/rule.c */
	void (*forget)(uint64_t, uint64_t) = __atomic_load_n(&gm_maps_on_leave, __ATOMIC_ACQUIRE);

	if (forget != NULL)
		forget(start, end);
}

/* The caller holds the lock. */
static void move_away(uint32_t i)
{
	struct gm_object *object = object_at(i);

	if (object->executable || GM_PLACE(object->start) != 0)
		return;
	leave(object->start, object->end);
	move(object, (first_place + i) * GM_PLACE_BYTES);
}

static bool is_same(const struct gm_object *a, const struct gm_object *b)
{
	return a->start - GM_PLACE(a->start) == b->start &&
	       a->bias - GM_PLACE(a->start) == b->bias && a->file == b->file &&
	       a->build_id == b->build_id;
}

/*
 * The caller holds the lock. Moves objects out of the way of the new one; returns true if it was
 * listed before.
 */
static bool is_known(const struct gm_object *new)
{
	struct gm_object *same = NULL;

	for (uint32_t i = 0; i < n_objects; i++) {
		struct gm_object *object = object_at(i);

		if (is_same(object, new))
			same = object;
		else if (object->start < new->end &&new->start < object->end)
			move_away(i);
	}
	if (same != NULL && GM_PLACE(same->start) != 0)
		move(same, 0 - GM_PLACE(same->start));
	return same != NULL;
}

/* The caller holds the lock. Returns the entry for the next object; NULL: no memory. */
static struct gm_object *place_new(void)
{
	struct gm_object **block = &blocks[n_objects / BLOCK_OBJECTS];

	if (*block == NULL)
		*block = gm_sys_mmap(sizeof(first_block), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return *block == NULL ? NULL : object_at(n_objects);
}

/* Counts an update that is left out because another thread was stopped while it held the lock. */
static void count_left_out(void)
{
	struct gm_threads_header *header = gm_threads_table();

	if (header != NULL)
		__atomic_fetch_add(&header->maps_left_out, 1, __ATOMIC_RELAXED);
}

static void note_object(const struct module *module)
{
	struct gm_object *object;
	uint64_t mask;

	/*
	 * A handler that interrupted this function: the object is noted when its next address is
	 * seen.
	 */
	if (gm_lock_is_mine(&objects_lock))
		return;
	gm_signals_block(&mask);
	if (!gm_lock_take(&objects_lock)) {
		count_left_out();
		gm_signals_restore(mask);
		return;
	}
	object = place_new();
	if (object != NULL) {
		describe(object, module);
		object->file = hash_bytes(module->path, gm_strlen(module->path));
		if (object->end > 0 && !is_known(object) && n_objects < OBJECTS_MAX) {
			set_name(object, module->path);
			list(object, module);
			/*
			 * release: pairs with the acquires in gm_maps_find() and gm_maps_of_file()
			 */
			__atomic_store_n(&n_objects, n_objects + 1, __ATOMIC_RELEASE);
		}
	}
	gm_lock_release(&objects_lock);
	gm_signals_restore(mask);
}

bool gm_maps_unload(uint64_t address)
{
	bool known = false;
	uint64_t mask;

	if (gm_lock_is_mine(&objects_lock))
		return false;
	gm_signals_block(&mask);
	if (!gm_lock_take(&objects_lock)) {
		count_left_out();
		gm_signals_restore(mask);
		return false;
	}
	for (uint32_t i = 0; i < n_objects; i++)
		if (address >= object_at(i)->start && address < object_at(i)->end) {
			move_away(i);
			known = true;
		}
	gm_lock_release(&objects_lock);
	gm_signals_restore(mask);
	return known;
}

void gm_maps_leave(uint64_t address)
{
	struct dl_find_object found;

	if (gm_find_object != NULL && gm_find_object((void *)address, &found) == 0)
		leave((uint64_t)found.dlfo_map_start, (uint64_t)found.dlfo_map_end);
}

static int note_phdr(struct dl_phdr_info *info, size_t size_bytes, void *data)
{
	(void)size_bytes;
	(void)data;
	/* The loader's lock is held: no object is unloaded now. */
	note_object(&(struct module){info->dlpi_addr, info->dlpi_name, info->dlpi_phdr,
				     info->dlpi_phnum, false});
	return 0;
}

static long update_step(void *unused)
{
	dl_iterate_phdr(note_phdr, unused);
	return 0;
}

/*
 * The loader's lock identifies a thread by its thread-local storage, so a helper can take it again.
 */
void gm_maps_update(void)
{
	if (gm_process_get() != NULL)
		gm_files_run(update_step, NULL);
}

uint64_t gm_entry_point(void)
{
	return gm_auxv(AT_ENTRY);
}

/* --- objects that another thread may unload --------------------------------------------------- */

#define HEADERS_MAX 64u

/* A copy of the loader's description and of the object's first page. */
struct snapshot {
	ElfW(Phdr) headers[HEADERS_MAX];
	char path[GM_PATH_MAX];
};

/* Copies a string, page by page. Returns false if it is too long or runs into unmapped memory. */
static bool read_string(char *into, size_t size_bytes, uint64_t address)
{
	for (size_t n = 0; n < size_bytes;) {
		size_t piece = PAGE_BYTES - (address + n) % PAGE_BYTES;

		if (piece > 256)
			piece = 256;
		if (piece > size_bytes - n)
			piece = size_bytes - n;
		if (!gm_memory_read(into + n, address + n, piece))
			return false;
		for (size_t end = n + piece; n < end; n++)
			if (into[n] == '\0')
				return true;
	}
	return false;
}

/*
 * Returns true if the loader still has the same object there; then everything read in between
 * belongs to it.
 */
static bool is_still(const struct dl_find_object *found, uint64_t address)
{
	struct dl_find_object now;

	return gm_find_object((void *)address, &now) == 0 &&
	       now.dlfo_link_map == found->dlfo_link_map &&
	       now.dlfo_map_start == found->dlfo_map_start;
}

static bool read_module(struct module *module, struct snapshot *snapshot,
			const struct dl_find_object *found)
{
	struct link_map map = {0};
	ElfW(Ehdr) elf;
	uint64_t start = (uint64_t)found->dlfo_map_start;

	if (!gm_memory_read(&map, (uint64_t)found->dlfo_link_map, sizeof(map)) ||
	    !read_string(snapshot->path, sizeof(snapshot->path), (uint64_t)map.l_name) ||
	    !gm_memory_read(&elf, start, sizeof(elf)) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_phnum > HEADERS_MAX ||
	    !gm_memory_read(snapshot->headers, start + elf.e_phoff,
			    elf.e_phnum * sizeof(snapshot->headers[0])))
		return false;
	*module = (struct module){map.l_addr, snapshot->path, snapshot->headers, elf.e_phnum, true};
	return true;
}

/*
 * Notes an object that may be unloaded at the same time: the kernel reads the loader's description
 * of it and its memory.
 */
static void note_transient(const struct dl_find_object *found, uint64_t address)
{
	struct snapshot *snapshot =
	    gm_sys_mmap(sizeof(*snapshot), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct gm_object *object = gm_maps_find(address);
	struct module module;

	if (snapshot == NULL)
		return;
	/* Another object may be mapped where a noted one was. */
	if (read_module(&module, snapshot, found) && is_still(found, address) &&
	    (object == NULL || object->bias != module.bias ||
	     object->file != hash_bytes(module.path, gm_strlen(module.path))))
		note_object(&module);
	gm_sys_munmap(snapshot, sizeof(*snapshot));
}

/* --- objects that are never unloaded ---------------------------------------------------------- */

/* Notes the object that the loader found at an address. */
static void note_lasting(const struct dl_find_object *found)
{
	const struct link_map *map = found->dlfo_link_map;
	const ElfW(Ehdr) *elf = found->dlfo_map_start;

	/*
	 * If the program has gaps between its segments, the loader gives only the segment of the
	 * address.
	 */
	if (map->l_name[0] == '\0')
		note_object(&(struct module){map->l_addr, map->l_name,
					     (const void *)gm_auxv(AT_PHDR),
					     (unsigned)gm_auxv(AT_PHNUM), false});
	else if (memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0)
		note_object(&(struct module){map->l_addr, map->l_name,
					     (const void *)((const char *)elf + elf->e_phoff),
					     elf->e_phnum, false});
}

/* In a static program (GM_ARCHIVE) this holds for all objects, but there is no loader. */
bool gm_found_is_permanent(const struct dl_find_object *found)
{
	struct dl_find_object program;

	if (gm_find_object((void *)gm_entry_point(), &program) == 0 &&
	    program.dlfo_link_map == found->dlfo_link_map)
		return true;
	return gm_module_is_permanent != NULL && gm_module_is_permanent(found->dlfo_link_map);
}

bool gm_maps_note(uint64_t address, struct gm_object *ret_object)
{
	const struct gm_object *object = gm_maps_find(address);
	struct dl_find_object found;

	if (gm_find_object != NULL && (object == NULL || !object->executable)) {
		if (gm_find_object((void *)address, &found) != 0)
			return false;
		if (!gm_found_is_permanent(&found))
			note_transient(&found, address);
		else if (object == NULL)
			note_lasting(&found);
		object = gm_maps_find(address);
	}
	if (object != NULL && ret_object != NULL)
		*ret_object = *object;
	return object != NULL;
}

/* --- objects between their last function and their unmapping ---------------------------------- */

/* Returns the entry of this object if it has moved; NULL: it has not. */
static const struct gm_object *moved_entry(const struct module *module)
{
	/* acquire: pairs with the release in note_object() */
	uint32_t n = __atomic_load_n(&n_objects, __ATOMIC_ACQUIRE);
	struct gm_object now;

	describe(&now, module);
	now.file = hash_bytes(module->path, gm_strlen(module->path));
	while (n-- > 0)
		if (GM_PLACE(object_at(n)->start) != 0 && is_same(object_at(n), &now))
			return object_at(n);
	return NULL;
}

/*
 * Returns the object there if it has moved and is still mapped, or mapped again: a call of a
 * function in it tells.
 */
static const struct gm_object *moved_object(uint64_t address)
{
	const struct gm_object *object = NULL;
	struct snapshot *snapshot;
	struct dl_find_object found;
	struct module module;

	if (gm_find_object == NULL || gm_find_object((void *)address, &found) != 0 ||
	    gm_found_is_permanent(&found))
		return NULL;
	snapshot = gm_sys_mmap(sizeof(*snapshot), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (snapshot == NULL)
		return NULL;
	if (read_module(&module, snapshot, &found))
		object = moved_entry(&module);
	gm_sys_munmap(snapshot, sizeof(*snapshot));
	return object;
}

bool gm_maps_look(uint64_t address, struct gm_object *ret_object, uint64_t *ret_place)
{
	const struct gm_object *object =
	    gm_maps_find(address) == NULL ? moved_object(address) : NULL;

	*ret_place = object != NULL ? GM_PLACE(object->start) : 0;
	if (object == NULL)
		return gm_maps_note(address, ret_object);
	if (ret_object != NULL) {
		*ret_object = *object;
		gm_object_move(ret_object, 0 - *ret_place);
	}
	return true;
}
