#!/bin/bash
# SPDX-License-Identifier: MIT
# Statistics of 1,000 random samples each are those of slow, direct implementations in Python, and of scipy where it is
# installed: Mann and Whitney's test (exact, with ties, by all divisions of the values), mean and standard deviation,
# and the fits of Amdahl's and the universal law (by exact fractions over all sets of parameters). The quantiles of
# Student's distribution are those of its density.
. "$GM_TOP/tests/lib.sh"
need python3

python3 - "$GM_BUILD/tests/unit/statistics" <<'END' || fail "statistics differ"
import itertools, math, random, statistics, subprocess, sys
from fractions import Fraction

rng = random.Random(7)
try:
    import scipy.stats, scipy.optimize
except ImportError:
    scipy = None


def ours(lines):
    out = subprocess.run([sys.argv[1]], input="\n".join(lines) + "\n", text=True, check=True, stdout=subprocess.PIPE).stdout
    return [line if line == "none" else [float(word) for word in line.split()] for line in out.splitlines()]


def near(got, want, what, limit=1e-9):
    assert math.isclose(got, want, rel_tol=limit, abs_tol=1e-12), (what, got, want)


def u_of(after, before):
    return sum((x > y) + (x == y) / 2 for x in after for y in before)


def exact(after, before):
    everything, n, u = after + before, len(after), u_of(after, before)
    ways = list(itertools.combinations(range(len(everything)), n))
    return sum(u_of([everything[i] for i in way], [v for i, v in enumerate(everything) if i not in way]) >= u
               for way in ways) / len(ways)


def normal(after, before):
    a, b = len(after), len(before)
    n, everything = a + b, after + before
    ties = sum(everything.count(v) ** 3 - everything.count(v) for v in set(everything))
    variance = a * b / 12 * (n + 1 - ties / (n * (n - 1)))
    if variance <= 0:
        return 1
    return 1 - statistics.NormalDist().cdf((u_of(after, before) - a * b / 2 - 0.5) / math.sqrt(variance))


def sample(n, ties):
    return [rng.randrange(4) if ties else rng.gauss(10, 3) for _ in range(n)]


# Small samples, half of them with ties.
cases = [(sample(rng.randint(1, 4), i % 2), sample(rng.randint(1, 4), i % 2)) for i in range(1000)]
for (after, before), (e, n) in zip(cases, ours(f"rank {len(a)} {' '.join(map(repr, a + b))}" for a, b in cases)):
    near(e, exact(after, before), (after, before))
    near(n, normal(after, before), (after, before), 1e-6)
    if scipy and len(set(after + before)) == len(after + before):
        near(e, scipy.stats.mannwhitneyu(after, before, alternative="greater", method="exact").pvalue, "scipy")
# Large ones: without ties the exact distribution is the recurrence of Mann and Whitney; both methods agree.
def recurrence(a, b, memo={}):
    if (a, b) not in memo:
        if not a or not b:
            memo[a, b] = [1]
        else:
            one, other = recurrence(a - 1, b), recurrence(a, b - 1)
            memo[a, b] = [(one[u - b] if 0 <= u - b < len(one) else 0) + (other[u] if u < len(other) else 0)
                          for u in range(a * b + 1)]
    return memo[a, b]


cases = [(sample(20, i % 2), [v + rng.choice((0, -1, 1, 3)) for v in sample(rng.choice((19, 20)), i % 2)]) for i in range(1000)]
for (after, before), (e, n) in zip(cases, ours(f"rank {len(a)} {' '.join(map(repr, a + b))}" for a, b in cases)):
    near(n, normal(after, before), (after, before), 1e-6)
    assert abs(e - n) < 0.03, (after, before, e, n)
    if len(set(after + before)) == len(after + before):
        counts = recurrence(len(after), len(before))
        near(e, sum(counts[math.ceil(u_of(after, before)):]) / sum(counts), (after, before))
    if scipy:
        near(n, scipy.stats.mannwhitneyu(after, before, alternative="greater", method="asymptotic").pvalue, "scipy", 1e-6)

cases = [[rng.gauss(1e9, 10 ** rng.randint(0, 8)) for _ in range(rng.randint(2, 30))] for _ in range(1000)]
for values, (mean, sigma, least, most) in zip(cases, ours("spread " + " ".join(map(repr, v)) for v in cases)):
    near(mean, statistics.fmean(values), values)
    near(sigma, statistics.stdev(values), values, 1e-6)
    assert (least, most) == (min(values), max(values))


def within(t, freedom):
    """The probability of Student's distribution between -t and t, by Simpson's rule."""
    def density(x):
        return math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi) * (
            1 + x * x / freedom) ** (-(freedom + 1) / 2)
    n = 2000
    return 2 * t / n / 3 * sum((1 if i in (0, n) else 4 if i % 2 else 2) * density(i * t / n) for i in range(n + 1))


for freedom in *range(1, 40), 100, 1998:
    (quantile,), = ours([f"student {freedom}"])
    near(within(quantile, freedom), 0.95, ("student", freedom), 4e-4)


def squares(runs, means, parameters):
    return sum(((parameters[0] / n + parameters[1] * (n - 1) / n + parameters[2] * (n - 1)) / means[n] - 1) ** 2 for n, _ in runs)


def solve(rows, right):
    """Gauss and Jordan, with fractions; None if singular."""
    n, rows = len(rows), [list(row) + [value] for row, value in zip(rows, right)]
    for i in range(n):
        pivot = next((row for row in range(i, n) if rows[row][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for row in range(n):
            if row != i:
                rows[row] = [x - rows[row][i] * y for x, y in zip(rows[row], rows[i])]
    return [row[-1] for row in rows]


def fitted(law, runs):
    """The parameters T1, T1 s, T1 k of the best fit without negative ones, run by run."""
    runs = [(Fraction(n), Fraction(t)) for n, t in runs]
    means = {n: statistics.mean(t for m, t in runs if m == n) for n, _ in runs}
    k = 2 if law == "amdahl" else 3
    if len(means) < k:
        return None
    best = None
    for used in itertools.chain.from_iterable(itertools.combinations(range(k), size) for size in range(1, k + 1)):
        columns = [[(1 / n, (n - 1) / n, n - 1)[i] / means[n] for i in used] for n, _ in runs]
        values = [t / means[n] for n, t in runs]
        found = solve([[sum(row[i] * row[j] for row in columns) for j in range(len(used))] for i in range(len(used))],
                      [sum(row[i] * v for row, v in zip(columns, values)) for i in range(len(used))])
        if found is None or min(found) < 0:
            continue
        parameters = [0] * 3
        for at, value in zip(used, found):
            parameters[at] = value
        if parameters[0] <= 0:
            continue
        error = squares(runs, means, parameters)
        if best is None or error < best[0]:
            best = error, parameters
    return best[1]


cases = []
for i in range(1000):
    steps = rng.choice(([1, 2], [1, 2, 4], [1, 2, 4, 8], [1, 3, 5], [2, 4, 8]))
    s, k, t1 = rng.choice((0, rng.random())), rng.choice((0, rng.random() / 10)), 10 ** rng.uniform(-3, 10)
    cases.append((("amdahl", "universal")[i % 2], [(n, t1 * (1 + s * (n - 1) + k * n * (n - 1)) / n * rng.gauss(1, 0.02))
                                                  for n in steps for _ in range(rng.randint(1, 3))]))
covered = 0
for (law, runs), got in zip(cases, ours(f"{law} {' '.join(f'{n}:{t!r}' for n, t in runs)}" for law, runs in cases)):
    want = fitted(law, runs)
    if want is None:
        assert got == "none", (law, runs, got)
        continue
    t1, s, k = (float(v) for v in (want[0], want[1] / want[0], want[2] / want[0]))
    near(got[0], t1, (law, runs), 1e-6)
    assert abs(got[3] - s) < 1e-6 and abs(got[6] - k) < 1e-6, (law, runs, got, want)
    assert got[4] <= got[5] and got[7] <= got[8] and got[1] <= got[2], got
    near(got[10], math.sqrt(max(1 - s, 0) / k) if k > 1e-9 else got[10], "peak", 1e-3)
    if scipy:
        means = {n: statistics.fmean(t for m, t in runs if m == n) for n, _ in runs}
        rows = [[1 / n / means[n], (n - 1) / n / means[n], (n - 1) / means[n]][:2 if law == "amdahl" else 3] for n, _ in runs]
        scale = max(means.values())
        solution, _ = scipy.optimize.nnls([[scale * x for x in row] for row in rows], [t / means[n] for n, t in runs])
        near(got[0], solution[0] * scale, "scipy's T1", 1e-5)

# A curve is the law at each number. Its interval is that of the same fits: for one thread, that of T1.
fits = [(law, runs, got) for (law, runs), got in zip(cases, ours(f"{law} {' '.join(f'{n}:{t!r}' for n, t in runs)}" for law, runs in cases))]
for (law, runs, fit), curve in zip(fits, ours(f"curve-{law} {' '.join(f'{n}:{t!r}' for n, t in runs)}" for law, runs, _ in fits)):
    if fit == "none":
        assert curve == "none", (law, runs)
        continue
    for at, n in enumerate((1, 2, 4, 8)):
        near(curve[3 * at], fit[0] * (1 + fit[3] * (n - 1) + fit[6] * n * (n - 1)) / n, (law, runs, n))
        assert curve[3 * at + 1] <= curve[3 * at + 2], curve
    for got, want in zip(curve[:3], fit[:3]):
        near(got, want, (law, runs))

# The intervals cover the true parameters about as often as they say, with many runs of each step.
n_covered = 0
lines, truth = [], []
for _ in range(200):
    s = rng.uniform(0.1, 0.5)
    truth.append(s)
    lines.append("amdahl " + " ".join(f"{n}:{(s + (1 - s) / n) * rng.gauss(1, 0.05)!r}" for n in (1, 2, 4, 8) for _ in range(20)))
n_covered = sum(got[4] <= s <= got[5] for s, got in zip(truth, ours(lines)))
assert 175 <= n_covered <= 199, f"95 % intervals contain the truth in {n_covered} of 200 cases"

assert ours(["rank 0 1 2", "rank 2 1 2"]) == [[1, 1], [1, 1]], "an empty sample shows nothing"
assert ours(["rank 2 5 5 5 5"]) == [[1, 1]], "equal values show nothing"
print("compared with scipy" if scipy else "scipy is not installed")
END
