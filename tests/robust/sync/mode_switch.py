# SPDX-License-Identifier: MIT
"""mode_switch.py MODE WAITS REPORT: checks the waits of programs/mode_switch.c in a report and in graphs."""
import json
import sys

mode, waits, report = sys.argv[1], sys.argv[2], json.load(open(sys.argv[3]))
failed = False


def check(what, holds, got):
    global failed
    if not holds:
        print(f"{mode}: {what}: {got}")
        failed = True


check("quality", not report["quality"], report["quality"])
locks = {row["object"]: row for row in report["locks"]}
HOLDERS = {"mutex": "hold_mutex", "inner": "hold_nested", "rwlock": "hold_rwlock"}
for line in open(waits):
    name, address, n, least_ns, most_ns = line.split()
    row = locks[address]
    wait_ns = row["wait_ns"]
    print(f"{mode}: {name}: {row['contended']} waits, {wait_ns} ns, by the program {least_ns} to {most_ns}")
    check(f"{name}: waits, not {n}", row["contended"] == int(n), row["contended"])
    check(f"{name}: time", int(least_ns) <= wait_ns <= int(most_ns), wait_ns)
    holders = [h for site in row["sites"] for h in site["holders"]]
    if name in HOLDERS:
        check(f"{name}: holders", sum(h["contended"] for h in holders) == int(n) and
              all(HOLDERS[name] in (h["site"] or "") for h in holders) and
              sum(h["wait_ns"] for h in holders) == wait_ns, holders)
    else:
        check(f"{name}: expected no holders", not holders, holders)

# There are no other waits, except the join.
waited = {row["object"] for row in report["locks"] if row["wait_ns"] and row["type"] != "thread"}
check("objects waited for", len(waited) == 5, waited)

# The calls, whether they were events or counted.
calls = {}
for row in report["sync"]:
    calls[row["function"]] = calls.get(row["function"], 0) + row["calls"]
check("locks and unlocks", calls["pthread_mutex_lock"] == calls["pthread_mutex_unlock"], calls)
check("posts and waits", calls["sem_post"] == calls["sem_wait"], calls)

# Each wait for the semaphore was ended by the post of its round.
graph = json.load(open("precedence.json"))
nodes = {node["id"]: node for node in graph["nodes"]}
posts = [edge for edge in graph["edges"] if edge["kind"] == "sem"]
check("precedence: posts", len(posts) == 1 and "post" in nodes[posts[0]["from"]]["site"] and
      "wait_for" in nodes[posts[0]["to"]]["site"], posts)
order = json.load(open("lock-order.json"))
check("lock-order", not any(edge.get("cycle") for edge in order["edges"]), order["edges"])
sys.exit(failed)
