/* SPDX-License-Identifier: MIT */
/*
 * Chooses the sections that are stepped: 1 in N of each call site, at random. N follows the budget.
 * Unless all sections are stepped, the first one of a site in each round is looked at, and counts;
 * a round takes 20 ms or the time until the next event. So most operations take libsync_trace's
 * fast paths, and rare sections are not missed.
 *
 * A thread earns `access.budget` percent of the CPU time that it uses, and pays with the CPU time
 * of the sections that it steps. A section whose turn it is while the thread is in debt is left
 * out, and N of its site doubles; N is halved while the thread has savings. All threads together
 * have such a balance, too: a thread that has just begun is not in debt.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "access/step/step.h"

#define EVERY_MAX   (1u << 10)
#define SAVINGS_NS  20000000 /* more are forfeited: a burst would slow the program down */
#define PLENTY_NS   5000000
#define ALL_PERCENT 100u
#define NS_PER_S    1000000000u

__thread struct step_self step_self;
unsigned step_steps_max;
static unsigned percent;
static int64_t all_balance_ns; /* of all threads */

void step_configure(unsigned budget_percent, unsigned steps_max)
{
	percent = budget_percent;
	step_steps_max = steps_max;
}

/* --- the budget ------------------------------------------------------------------------------- */

static uint64_t cpu_now_ns(void)
{
	struct timespec now;

	if (step_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0, 0) != 0)
		return 0;
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void earn(uint64_t now_ns)
{
	int64_t earned_ns;

	if (step_self.cpu_ns == 0 || now_ns < step_self.cpu_ns) /* in a child of fork it is less */
		step_self.cpu_ns = now_ns;
	earned_ns = (int64_t)((now_ns - step_self.cpu_ns) * percent / 100);
	step_self.cpu_ns = now_ns;
	step_self.balance_ns += earned_ns;
	if (step_self.balance_ns > SAVINGS_NS)
		step_self.balance_ns = SAVINGS_NS;
	if (__atomic_add_fetch(&all_balance_ns, earned_ns, __ATOMIC_RELAXED) > SAVINGS_NS)
		__atomic_store_n(&all_balance_ns, SAVINGS_NS, __ATOMIC_RELAXED);
}

static bool is_in_debt(void)
{
	return percent < ALL_PERCENT &&
	       (step_self.balance_ns < 0 || __atomic_load_n(&all_balance_ns, __ATOMIC_RELAXED) < 0);
}

void step_earn(void)
{
	earn(cpu_now_ns());
}

void step_spend(void)
{
	step_self.begin_ns = cpu_now_ns();
}

void step_pay(void)
{
	uint64_t now_ns, cost_ns;

	if (step_self.begin_ns == 0)
		return;
	now_ns = cpu_now_ns();
	cost_ns = now_ns > step_self.begin_ns ? now_ns - step_self.begin_ns : 0;
	step_self.begin_ns = 0;
	step_self.cpu_ns = now_ns; /* nothing is earned by steps */
	step_self.balance_ns -= (int64_t)cost_ns;
	__atomic_fetch_sub(&all_balance_ns, (int64_t)cost_ns, __ATOMIC_RELAXED);
}

/* --- call sites ------------------------------------------------------------------------------- */

/* Zeroed in a forked child. NULL: there is none. */
struct step_memory *step_memory_new(void)
{
	int saved = errno;
	void *at = mmap(NULL, sizeof(struct step_memory), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at != MAP_FAILED)
		madvise(at, sizeof(struct step_memory), MADV_WIPEONFORK);
	errno = saved;
	return at != MAP_FAILED ? at : NULL;
}

/* From 1 to 2 * every - 1, each with the same chance. */
static uint32_t draw(uint32_t every)
{
	uint64_t *random = &step_self.memory->random;

	if (*random == 0)
		*random = (uint64_t)(uintptr_t)random ^ 0x9e3779b97f4a7c15u;
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return 1 + (uint32_t)((*random >> 32) % (2 * every - 1));
}

static struct step_site *find_site(uintptr_t address)
{
	uint64_t hash = address * 0x9e3779b97f4a7c15u;
	struct step_site *site = &step_self.memory->sites[hash >> 56];

	_Static_assert(STEP_SITES == 256, "the hash has 8 bits");
	if (site->site != address)
		*site = (struct step_site){address, 1, 1, step_self.round - 1};
	return site;
}

void step_arm(void)
{
	step_self.round++;
}

bool step_is_turn(uintptr_t address)
{
	struct step_site *site = find_site(address);

	if (percent >= ALL_PERCENT)
		return true;
	if (site->round == step_self.round)
		return false;
	site->round = step_self.round;
	if (--site->until > 0)
		return false;
	earn(cpu_now_ns());
	if (is_in_debt() && site->every < EVERY_MAX)
		site->every *= 2;
	else if (step_self.balance_ns > PLENTY_NS && site->every > 1)
		site->every /= 2;
	site->until = draw(site->every);
	return !is_in_debt();
}
