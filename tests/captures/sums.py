# SPDX-License-Identifier: MIT
"""Checks the figures of a report against each other: they are sums over the same events.

- the modes of a thread (running, runnable, blocked, unknown) add up to its lifetime
- the waits for all objects are the waits in all functions of all threads; so are the numbers of operations that
  blocked
- the waits for an object are those at its call sites; for a lock, those at a call site are those for its holders
"""

MODES = ("running_ns", "runnable_ns", "blocked_sync_ns", "blocked_io_ns", "blocked_other_ns", "unknown_ns")


def add(rows, key):
    return sum(row.get(key) or 0 for row in rows)


def thread_modes(report):
    for thread in report["threads"]:
        modes = sum(thread.get(mode) or 0 for mode in MODES)
        lifetime = thread.get("lifetime_ns")
        if thread.get("running_ns") is not None and lifetime is not None and modes != lifetime:
            yield f"thread {thread['tid']}: its modes add up to {modes} ns, its lifetime is {lifetime} ns"


def waits_by_object(report):
    objects, functions = add(report["locks"], "wait_ns"), add(report["sync"], "wait_ns")
    if objects != functions:
        yield f"waits by object: {objects} ns, by thread and function: {functions} ns"


def waits_by_site(report):
    for lock in report["locks"]:
        sites = lock.get("sites") or []
        for key in ("wait_ns", "contended"):
            if add(sites, key) != (lock.get(key) or 0):
                yield f"{lock['name']} ({lock['object']}): {key} {lock.get(key)}, at its call sites {add(sites, key)}"
        for site in sites:
            holders = site.get("holders") or []
            if holders and add(holders, "wait_ns") != (site.get("wait_ns") or 0):
                yield (f"{lock['name']} ({lock['object']}): wait_ns {site.get('wait_ns')} at {site.get('site')}, "
                       f"for its holders {add(holders, 'wait_ns')}")


def mismatches(report):
    """Lines about the sums that differ in a report with the sections threads, sync and locks (as JSON, parsed)."""
    return [line for check in (thread_modes, waits_by_object, waits_by_site) for line in check(report)]
