/* SPDX-License-Identifier: MIT */
/* Finds the module at an address at a given time, in load histories written for this test. */
#include "check.h"
#include "core/event.h"
#include "capture/capture.h"

#define A	     0x1000000u /* base address of libraries */
#define SITE	     (A + 0x100)
#define DATA	     (A + 0x800)
#define ELSE	     0x400100u /* code of the program */
#define GONE(number) ((uint64_t)(number)*GM_PLACE_BYTES)

struct line {
	int64_t time_ns;
	uint64_t moved;
	uint32_t offset, bytes;
	const char *path;
};

static struct pp_process process;

static void map(const struct line *lines, unsigned n)
{
	process.maps = pp_maps_new();
	for (unsigned i = 0; i < n; i++) {
		uint64_t start = A + lines[i].offset + lines[i].moved;
		struct pp_load load = {
		    .time_ns = lines[i].time_ns,
		    .start = start,
		    .end = start + (lines[i].bytes ? lines[i].bytes : 0x1000),
		    .bias = start,
		    .path = g_strdup(lines[i].path),
		};

		g_array_append_val(process.maps, load);
	}
	process.places = pp_places_new(process.maps);
}
#define MAP(...)                                                                                   \
	map((const struct line[]){__VA_ARGS__}, G_N_ELEMENTS(((const struct line[]){__VA_ARGS__})))

static void unmap(void)
{
	g_clear_pointer(&process.places, pp_places_free);
	g_clear_pointer(&process.maps, g_array_unref);
}

/* The module of a return address, or of an object used by code at `site`; "": none. */
static const char *name_at(uint64_t address)
{
	for (guint i = process.maps->len; i-- > 0;) {
		const struct pp_load *load = &g_array_index(process.maps, struct pp_load, i);

		if (address >= load->start && address < load->end)
			return load->path;
	}
	return "";
}

static const char *code(int64_t time_ns)
{
	return name_at(pp_places_code(&process, SITE, time_ns));
}

static const char *data(uint64_t site, int64_t time_ns)
{
	return name_at(DATA + GM_PLACE(pp_places_load_id(&process, DATA, site, time_ns)));
}

static uint64_t life(int64_t time_ns)
{
	return pp_address_runtime(pp_places_load_id(&process, DATA, SITE, time_ns));
}

static void test_never_changed(void)
{
	MAP({10, 0, 0, 0, "a"}, {10, 0, 0x1000, 0, "b"}, {20, 0, 0, 0, "a"});
	CHECK(!process.places);
	CHECK_INT(pp_places_code(&process, SITE, 15), SITE);
	CHECK_INT(pp_places_load_id(&process, DATA, SITE, 15), 0);
	unmap();
}

/* Unloaded at 20; the next module was noticed at 30. */
static void test_another(void)
{
	MAP({10, 0, 0, 0, "a"}, {20, GONE(3), 0, 0, "a"}, {30, 0, 0, 0, "b"});
	CHECK_INT(process.maps->len, 3);
	CHECK_STR(code(5), "a");
	CHECK_STR(code(10), "a");
	CHECK_STR(code(19), "a");
	CHECK_INT(pp_places_code(&process, SITE, 19), SITE + GONE(3));
	CHECK_STR(code(20), "b");
	CHECK_STR(code(30), "b");
	CHECK_STR(data(ELSE, 15), "a");
	CHECK_STR(data(ELSE, 30), "b");
	CHECK_STR(data(SITE, 5), "a");
	CHECK_STR(data(ELSE, 5), "");
	CHECK_STR(data(SITE, 25), "b");
	CHECK_STR(data(ELSE, 25), "");
	CHECK(life(5) == life(15) && life(15) != life(25) && life(25) == life(35));
	unmap();
}

static void test_nothing_came(void)
{
	MAP({10, 0, 0, 0, "a"}, {20, GONE(3), 0, 0, "a"});
	CHECK_STR(code(15), "a");
	CHECK_STR(code(25), "");
	CHECK_STR(data(ELSE, 15), "a");
	CHECK_STR(data(SITE, 25), "");
	CHECK(life(15) != life(25));
	unmap();
}

/* Both libraries list the module, each with a number of its own. */
static void test_again(void)
{
	MAP({10, 0, 0, 0, "a"}, {11, 0, 0, 0, "a"}, {20, GONE(0x8001), 0, 0, "a"},
	    {21, GONE(2), 0, 0, "a"}, {30, 0, 0, 0, "a"}, {31, 0, 0, 0, "a"});
	CHECK_INT(pp_places_code(&process, SITE, 15), SITE);
	CHECK_INT(pp_places_code(&process, SITE, 35), SITE);
	CHECK_STR(data(ELSE, 15), "a");
	CHECK_STR(data(ELSE, 35), "a");
	CHECK(life(10) == life(15) && life(15) != life(35) && life(30) == life(35));
	unmap();
}

/* Without a record of the unload, the module stays until another is found at its address. */
static void test_unheard(void)
{
	MAP({10, 0, 0, 0, "a"}, {5, GONE(7), 0x9000, 0, "z"}, {30, 0, 0x200, 0x3000, "b"});
	CHECK_INT(process.maps->len, 4);
	CHECK_STR(code(29), "a");
	CHECK_STR(code(31), ""); /* the new module begins above this address */
	CHECK_STR(data(ELSE, 29), "a");
	CHECK_STR(data(ELSE, 30), "b");
	CHECK_INT(GM_PLACE(pp_places_load_id(&process, DATA, ELSE, 29)), GONE(8));
	CHECK_INT(pp_places_code(&process, ELSE, 20), ELSE);
	unmap();
}

/* One module is loaded over several; the second one was first seen before the last. */
static void test_several(void)
{
	MAP({10, 0, 0, 0x500, "a"}, {10, 0, 0x500, 0x500, "b"}, {20, 0, 0, 0x1000, "c"},
	    {30, 0, 0x500, 0x500, "b"});
	CHECK_STR(code(15), "a");
	CHECK_STR(code(25), "c");
	CHECK_STR(code(35), "");
	CHECK_STR(data(ELSE, 15), "b");
	CHECK_STR(data(ELSE, 25), "c");
	CHECK_STR(data(ELSE, 35), "b");
	CHECK(life(15) != life(35));
	unmap();
}

int main(void)
{
	test_never_changed();
	test_another();
	test_nothing_came();
	test_again();
	test_unheard();
	test_several();
	return 0;
}
