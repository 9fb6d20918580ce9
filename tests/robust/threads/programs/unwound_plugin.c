/* SPDX-License-Identifier: MIT */
/* A constructor that calls the program. */
void end_waiter(void);

__attribute__((constructor)) static void begin(void)
{
	end_waiter();
}
