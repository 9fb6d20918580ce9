/* SPDX-License-Identifier: MIT */
/* short N: N calls of poll() that do not block. */
#include <poll.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct pollfd none = {-1, 0, 0};

	for (long n = argc > 1 ? atol(argv[1]) : 1; n > 0; n--)
		poll(&none, 1, 0);
	return 0;
}
