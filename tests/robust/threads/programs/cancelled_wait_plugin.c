/* SPDX-License-Identifier: MIT */
/* A library whose constructor calls end_waiter() of the program. */
void end_waiter(void);

__attribute__((constructor)) static void begin(void)
{
	end_waiter();
}
