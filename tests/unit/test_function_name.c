/* SPDX-License-Identifier: MIT */
/* What demangled names tell: the C++ library's functions, and substitutes of names. */
#include <glib.h>

#include "check.h"
#include "core/text/function_name.h"

static const char *const library[] = {
    "std::mutex::lock()",
    ("void std::__invoke_impl<void, void (*)(int), int>(std::__invoke_other, void (*&&)(int), "
     "int&&)"),
    "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run()",
    "void (*&&std::forward<void (*)(int)>(std::remove_reference<void (*)(int)>::type&))(int)",
    "void (Pool::*&&std::forward<void (Pool::*)()>(int))()",
    "bool __gnu_cxx::operator!=<int*>(int, int)",
    "__gthread_mutex_lock(pthread_mutex_t*)",
};

static const char *const program[] = {
    "main",
    "worker(int)",
    "std_worker()",
    "std::vector<int> make<std::vector<int> >(int)",
    "main::{lambda()#1}::operator()() const",
    "(anonymous namespace)::serve(std::string)",
    "void (*find(std::string const&))(int)",
    "Pool::operator std::string() const",
};

int main(void)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(library); i++)
		CHECK_STR(pp_is_library_function(library[i]) ? library[i] : "", library[i]);
	for (unsigned i = 0; i < G_N_ELEMENTS(program); i++)
		CHECK_STR(pp_is_library_function(program[i]) ? "" : program[i], program[i]);
	CHECK(pp_is_function_name("main"));
	CHECK(!pp_is_function_name("0x1234"));
	CHECK(!pp_is_function_name("libc.so.6+0x1234"));
	CHECK(!pp_is_function_name("libc.so.6, no symbols"));
	return 0;
}
