/* SPDX-License-Identifier: MIT */
/*
 * usage: drop HOW THREADS CHILDREN [PROGRAM]
 *
 * Takes 10 locks, then changes its access to the capture as HOW says:
 *
 *	setuid, chroot, mount, landlock	it cannot reach the capture any more
 *	copied	chroot to a directory in which the capture's path leads to a copy
 *	pid	as setuid, in a child that is the first process of a PID namespace
 *	net	as setuid, in another network namespace: it cannot reach `record` either
 *	stopped	as landlock, and the parent is stopped until the end: `record` does not answer
 *	user	only changes its user namespace
 *	none	no change
 *
 * Then it makes THREADS threads and CHILDREN children that take 7 locks each; if PROGRAM is given,
 * it executes PROGRAM, which makes them.  Exits with 5.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <linux/landlock.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void work(int n)
{
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

static void *thread(void *arg)
{
	work(7);
	return arg;
}

/* From here on the process cannot make, write, move or remove files. */
static int restrict_files(void)
{
	struct landlock_ruleset_attr rules = {
	    .handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |
				 LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
				 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SYM};
	int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);

	return fd < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	       syscall(SYS_landlock_restrict_self, fd, 0) != 0 || close(fd) != 0;
}

/* Returns in a child; the process itself waits, and exits with the child's status. */
static void become_first(void)
{
	int status = 0;

	if (unshare(CLONE_NEWPID) != 0 || fork() == 0)
		return;
	wait(&status);
	exit(WEXITSTATUS(status));
}

/* Copies ./capture to the same path below ./root, by a process that is not recorded. */
static int copy_capture(void)
{
	static char command[] = "mkdir -p \"root$PWD\" && cp -r capture \"root$PWD\" && "
				"find \"root$PWD\" -exec cksum {} + 2>/dev/null | sort >copied";
	char *const none[] = {NULL};
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		execve("/bin/sh", (char *[]){"sh", "-c", command, NULL}, none);
		_exit(1);
	}
	return waitpid(pid, &status, 0) != pid || status != 0;
}

static int drop(const char *how)
{
	if (strcmp(how, "copied") == 0 && copy_capture() != 0)
		return -1;
	if (strcmp(how, "net") == 0 && unshare(CLONE_NEWNET) != 0)
		return -1;
	if (strcmp(how, "stopped") == 0 && kill(getppid(), SIGSTOP) != 0)
		return -1;
	if (strcmp(how, "pid") == 0)
		become_first();
	if (strcmp(how, "setuid") == 0 || strcmp(how, "pid") == 0 || strcmp(how, "net") == 0)
		return setgroups(0, NULL) || setgid(65534) || setuid(65534);
	if (strcmp(how, "chroot") == 0 || strcmp(how, "copied") == 0)
		return chroot("root") || chdir("/");
	if (strcmp(how, "mount") == 0)
		return unshare(CLONE_NEWNS) ||
		       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		       mount("none", "capture", "tmpfs", 0, NULL);
	if (strcmp(how, "user") == 0)
		return unshare(CLONE_NEWUSER);
	if (strcmp(how, "landlock") == 0 || strcmp(how, "stopped") == 0)
		return restrict_files();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	work(10);
	if (drop(argv[1]) != 0)
		return 77;
	if (argc > 4) {
		execv(argv[4], (char *[]){argv[4], "none", argv[2], argv[3], NULL});
		return 78;
	}
	for (int i = atoi(argv[2]); i > 0; i--) {
		pthread_t made;

		pthread_create(&made, NULL, thread, NULL);
		pthread_join(made, NULL);
	}
	for (int i = atoi(argv[3]); i > 0; i--) {
		if (fork() == 0) {
			work(7);
			_exit(0);
		}
		wait(NULL);
	}
	if (strcmp(argv[1], "stopped") == 0)
		kill(getppid(), SIGCONT);
	return 5;
}
