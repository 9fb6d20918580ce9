/* SPDX-License-Identifier: MIT */
/* A C++ name in its three forms: full, simple, not demangled. */
#include <glib.h>

#include "check.h"
#include "symbols/demangle.h"

static const struct {
	const char *full, *simple;
} names[] = {
    {"main", "main"},
    {"space::box<long>::take(int) const", "space::box::take"},
    {"void walk<std::less<int>, (char)60>(int (*)(int), char)", "walk"},
    {"std::ostream& operator<< <char>(std::ostream&, char const*)", "operator<<"},
    {"a::operator<(a const&)", "a::operator<"},
    {"a::operator()(int) const", "a::operator()"},
    {"a::operator->()", "a::operator->"},
    {"operator new(unsigned long)", "operator new"},
    {"a::operator std::vector<int>()", "a::operator std::vector"},
    {"(anonymous namespace)::hidden(int)", "(anonymous namespace)::hidden"},
    {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"},
    {"f(int)::local::g(char)", "f::local::g"},
    {"decltype (x.y()) call<int>(int&&)", "call"},
    {"work(int) [clone .isra.0]", "work"},
    {"std::function<void (int)>::swap(std::function<void (int)>&)", "std::function::swap"},
    {"operators(int)", "operators"},
    {"my_operator<int>(int)", "my_operator"},
};

int main(void)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *simple = pp_demangle_simplify(names[i].full);

		CHECK_STR(simple, names[i].simple);
	}
	static const struct {
		const char *symbol;
		enum pp_demangle how;
		const char *shown;
	} symbols[] = {
	    {"_ZNK5space3boxIlE4takeEi", PP_DEMANGLE_FULL, "space::box<long>::take(int) const"},
	    {"_ZNK5space3boxIlE4takeEi", PP_DEMANGLE_SIMPLE, "space::box::take"},
	    {"_ZNK5space3boxIlE4takeEi", PP_DEMANGLE_NO, "_ZNK5space3boxIlE4takeEi"},
	    {"_Znwm@@GLIBCXX_3.4", PP_DEMANGLE_FULL, "operator new(unsigned long)"},
	    {"qsort@@GLIBC_2.2.5", PP_DEMANGLE_NO, "qsort"},
	    {"_Zmalformed", PP_DEMANGLE_SIMPLE, "_Zmalformed"},
	    {"tick\033[2J", PP_DEMANGLE_SIMPLE, "tick?[2J"},
	};
	for (unsigned i = 0; i < G_N_ELEMENTS(symbols); i++) {
		g_autofree char *shown = pp_demangle(symbols[i].symbol, symbols[i].how);

		CHECK_STR(shown, symbols[i].shown);
	}
	return 0;
}
