/* SPDX-License-Identifier: MIT */
/* Calls the hook of -finstrument-functions itself, with invalid addresses, 5000 times. */
extern void __cyg_profile_func_enter(void *function, void *call_site);

__attribute__((noinline, noipa)) void leaf(void)
{
}

int main(void)
{
	for (long i = 0; i < 5000; i++)
		__cyg_profile_func_enter((void *)0, (void *)(i % 50));
	leaf();
	leaf();
	return 0;
}
