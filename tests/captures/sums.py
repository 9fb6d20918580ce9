# SPDX-License-Identifier: MIT
"""Checks the figures of a report against each other: they are sums over the same events.

- the modes of a thread (running, runnable, blocked, unknown) add up to its lifetime
- the waits for all objects are the waits in all functions of all threads; so are the numbers of operations that
  blocked
- so are the waits that `blame` charges to causes, those of its waiting calls, and those that it shares among suspects;
  the modes of the thread to blame add up to the time that it is charged; for a holder, the rows of `blame_nested` add
  up to the part in which it was blocked on other objects
- the critical sections of `bottlenecks`, and nobody, have all waits for locks and semaphores
- so have the edges of the graph `sydg`, and barriers
- a node of `blame-tree` has the sum of its children and of what is its own, and its roots have all waits
- the leading cause in `summary` has the sum of its rows in `blame`
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


def differing_nodes(tree, kinds):
    for kind in kinds:
        below = collections.Counter()
        for row in tree:
            below[row["parent"]] += row[f"{kind}_ns"] or 0
        for row in tree:
            total, own = row[f"{kind}_ns"] or 0, row[f"self_{kind}_ns"] or 0
            if total != own + below[row["id"]]:
                yield f"{row['path']}: {kind} {total} ns, its own {own} ns, below {below[row['id']]} ns"


def waits_by_path(report):
    tree = report["calltree"]
    roots, functions = add([row for row in tree if row["parent"] is None], "wait_ns"), add(report["sync"], "wait_ns")
    if roots != functions:
        yield f"waits by call path: {roots} ns, by thread and function: {functions} ns"
    roots, calls = add([row for row in tree if row["parent"] is None], "blocking_ns"), add(report["io"], "wait_ns")
    if roots != calls:
        yield f"blocking calls by call path: {roots} ns, by function: {calls} ns"
    yield from differing_nodes(tree, ("wall", "cpu", "wait", "blocking"))
    for thread in report["calltree_threads"]:
        if add([thread], "lifetime_ns") != sum(thread[key] or 0 for key in OUTSIDE):
            yield f"thread {thread['tid']}: its times in and outside of call paths are not its lifetime: {thread}"


def waits_by_cause(report):
    if "blame" not in report:
        return
    causes, waiters = add(report["blame"], "wait_ns"), add(report["blame_waiters"], "wait_ns")
    suspects, functions = add(report["blame_suspects"], "wait_ns"), add(report["sync"], "wait_ns")
    if not causes == waiters == suspects == functions:
        yield (f"waits by cause: {causes} ns, by waiting call: {waiters} ns, by suspect: {suspects} ns, "
               f"by thread and function: {functions} ns")
    for row in report["blame"]:
        modes = sum(row.get(mode) or 0 for mode in MODES)
        if row.get("running_ns") is not None and modes != row["wait_ns"]:
            yield f"blame of {row['site']} for {row['name']}: {row['wait_ns']} ns, by mode {modes} ns"
    for row in report["blame_waiters"]:
        parts = sum(row[key] or 0 for key in ("held_ns", "called_ns", "handed_over_ns", "unknown_ns"))
        if parts != row["wait_ns"]:
            yield f"waits at {row['site']} for {row['name']}: {row['wait_ns']} ns, by kind of cause {parts} ns"


def nested_blame(report):
    if "blame_nested" not in report:
        return
    def key_of(row):
        return tuple(row.get(key) for key in ("pid", "image", "object", "generation", "name", "function", "site",
                                              "acquired", "path"))
    holders, further = collections.Counter(), collections.Counter()
    for row in report["blame"]:
        if row["kind"] == "holder":
            holders[key_of(row)] += row.get("blocked_sync_ns") or 0
    for row in report["blame_nested"]:
        further[key_of(row)] += row["nested_ns"]
    for key in sorted(holders.keys() | further.keys(), key=str):
        if holders[key] != further[key]:
            yield f"blame of {key[6]} for {key[4]}: blocked {holders[key]} ns, charged further {further[key]} ns"


def waits_in_blame_tree(report):
    if "blame_tree" not in report:
        return
    tree = report["blame_tree"]
    roots, functions = add([row for row in tree if row["parent"] is None], "wait_ns"), add(report["sync"], "wait_ns")
    if roots != functions:
        yield f"waits in the tree of causes: {roots} ns, by thread and function: {functions} ns"
    yield from differing_nodes(tree, ("wait", "work"))


def waits_by_section(report):
    """Except for barriers, each wait in `bottlenecks` is for a critical section, or for nobody."""
    if "bottlenecks" not in report:
        return
    locks = [row for row in report["bottleneck_locks"] if row["type"] != "barrier"]
    charged = add(locks, "aplt_ns") + add(locks, "nobody_ns") - add(locks, "unended_ns")
    waits = add([row for row in report["locks"] if row["type"] in ("mutex", "rwlock", "spin", "sem")], "wait_ns")
    if charged != waits:
        yield f"waits by critical section: {charged} ns, by lock: {waits} ns"
    sections, of_locks = add(report["bottlenecks"], "apwt_ns"), add(report["bottleneck_locks"], "aplt_ns")
    if sections != of_locks:
        yield f"APWT of all critical sections: {sections} ns, APLT of all locks: {of_locks} ns"


def waits_by_edge(report, graph):
    """The edges of the synchronization dependence graph have the waits of `bottlenecks`."""
    for barriers in (False, True):
        locks = [row for row in report["bottleneck_locks"] if (row["type"] == "barrier") == barriers]
        edges = [row for row in graph["edges"] if (row["kind"] == "barrier") == barriers]
        charged, waits = add(edges, "wait_ns"), add(locks, "aplt_ns") + add(locks, "nobody_ns")
        if charged != waits:
            yield f"edges of {'barriers' if barriers else 'locks'}: {charged} ns, waits {waits} ns"


def leading_cause(report):
    """The finding of `summary` has the sums of its rows in `blame`, if these are of one object."""
    for finding in report["summary"][0].get("finding") or [] if report.get("summary") else []:
        if finding["name"] is None:
            continue
        modes = sum(finding.get(mode) or 0 for mode in MODES)
        if finding.get("running_ns") is not None and modes != finding["wait_ns"]:
            yield f"finding: {finding['wait_ns']} ns, by mode {modes} ns"
        if finding["objects"] != 1 or not finding["site"]:
            continue
        rows = [row for row in report["blame"]
                if all(row[key] == finding[key] for key in ("name", "type", "function", "site", "acquired"))]
        objects = {(row["pid"], row["image"], row["object"], row["generation"]) for row in rows}
        if not rows or (len(objects) == 1 and add(rows, "wait_ns") != finding["wait_ns"]):
            yield f"finding: {finding['wait_ns']} ns for {finding['name']}, in blame {add(rows, 'wait_ns')} ns"


def mismatches(report):
    """Lines about the sums that differ in a report (as JSON) with the sections threads, sync, locks, io, calltree,
    blame, blame-tree, bottlenecks, and perhaps summary."""
    checks = (thread_modes, waits_by_object, waits_by_site, waits_by_path, waits_by_cause, nested_blame,
              waits_in_blame_tree, waits_by_section, leading_cause)
    return [line for check in checks for line in check(report)]
