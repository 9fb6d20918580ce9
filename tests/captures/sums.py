# SPDX-License-Identifier: MIT
"""Checks the figures of a report against each other: they are sums over the same events.

- the modes of a thread (running, runnable, blocked, unknown) add up to its lifetime
- the waits for all objects are the waits in all functions of all threads; so are the numbers of operations that
  blocked
- so are the waits that `blame` charges to causes, and those of its waiting calls; the modes of the thread to blame add
  up to the time that it is charged
- the waits for an object are those at its call sites; for a lock, those at a call site are those for its holders
- the waits in all call paths are those in all functions; a node of the tree has the sum of its children and of what is
  its own; the times of a thread in and outside of call paths add up to its lifetime
"""

import collections

OUTSIDE = ("wait_ns", "blocking_ns", "cpu_ns", "unsampled_ns", "runnable_ns", "blocked_ns", "unknown_ns")
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


def waits_by_path(report):
    tree = report["calltree"]
    roots, functions = add([row for row in tree if row["parent"] is None], "wait_ns"), add(report["sync"], "wait_ns")
    if roots != functions:
        yield f"waits by call path: {roots} ns, by thread and function: {functions} ns"
    roots, calls = add([row for row in tree if row["parent"] is None], "blocking_ns"), add(report["io"], "wait_ns")
    if roots != calls:
        yield f"blocking calls by call path: {roots} ns, by function: {calls} ns"
    for kind in ("wall", "cpu", "wait", "blocking"):
        below = collections.Counter()
        for row in tree:
            below[row["parent"]] += row[f"{kind}_ns"] or 0
        for row in tree:
            total, own = row[f"{kind}_ns"] or 0, row[f"self_{kind}_ns"] or 0
            if total != own + below[row["id"]]:
                yield f"{row['path']}: {kind} {total} ns, its own {own} ns, below {below[row['id']]} ns"
    for thread in report["calltree_threads"]:
        if add([thread], "lifetime_ns") != sum(thread[key] or 0 for key in OUTSIDE):
            yield f"thread {thread['tid']}: its times in and outside of call paths are not its lifetime: {thread}"


def waits_by_cause(report):
    if "blame" not in report:
        return
    causes, waiters = add(report["blame"], "wait_ns"), add(report["blame_waiters"], "wait_ns")
    functions = add(report["sync"], "wait_ns")
    if not causes == waiters == functions:
        yield f"waits by cause: {causes} ns, by waiting call: {waiters} ns, by thread and function: {functions} ns"
    for row in report["blame"]:
        modes = sum(row.get(mode) or 0 for mode in MODES)
        if row.get("running_ns") is not None and modes != row["wait_ns"]:
            yield f"blame of {row['site']} for {row['name']}: {row['wait_ns']} ns, by mode {modes} ns"
    for row in report["blame_waiters"]:
        parts = sum(row[key] or 0 for key in ("held_ns", "called_ns", "handed_over_ns", "unknown_ns"))
        if parts != row["wait_ns"]:
            yield f"waits at {row['site']} for {row['name']}: {row['wait_ns']} ns, by kind of cause {parts} ns"


def mismatches(report):
    """Lines about the sums that differ in a report (as JSON) with the sections threads, sync, locks, io, calltree,
    blame."""
    checks = (thread_modes, waits_by_object, waits_by_site, waits_by_path, waits_by_cause)
    return [line for check in checks for line in check(report)]
