# SPDX-License-Identifier: MIT
"""numbers.py LOG TRACE: compares the order of locks in the output of `babeltrace2` with the program's own log.

The numbers of a lock's exclusive acquisitions are 2, 3, ..., and its threads in that order are those of the log.  A
reader has the number of one of them, or 1."""
import collections
import re
import sys

EXCLUSIVE = re.compile(r"(mutex_(lock|trylock|timedlock)|rwlock_(wr|trywr|timedwr)lock|spin_(lock|trylock)|cond_(wait|timedwait))$")
READS = re.compile(r"rwlock_(rd|tryrd|timedrd)lock$")

log = {words[0]: words[1:] for words in (line.split() for line in open(sys.argv[1]))}
orders, readers, number, last = collections.defaultdict(dict), collections.defaultdict(list), None, None
for line in open(sys.argv[2]):
    found = re.search(r"\) (\w+): \{ tid = \d+, index = (\d+) \}, \{ (.*) \}$", line)
    if not found:
        continue
    name, index, fields = found[1], int(found[2]), dict(re.findall(r"(\w+) = (\S+?)(?:,|$)", found[3]))
    if name == "order":
        assert number is None, line
        number = int(fields["number"])
        continue
    reads, excludes = READS.match(name), EXCLUSIVE.match(name)
    acquires = fields.get("result") == "0" and (reads or excludes)
    assert bool(acquires) == (number is not None), (number, line)
    # An event without an object has that of the one before.
    lock = fields.get("mutex") or fields.get("object") or last
    if acquires and reads:
        readers[lock].append(number)
    elif acquires:
        assert number not in orders[lock], line
        orders[lock][number] = index
    last = fields.get("object") or last
    number = None
found = []
for lock, order in orders.items():
    assert sorted(order) == list(range(2, len(order) + 2)), (lock, sorted(order)[:10])
    found.append([order[n] for n in sorted(order)])
    assert all(1 <= n <= len(order) + 1 for n in readers[lock]), lock
# Indexes are given in the order of the threads' first events.
by_index = next(dict(zip(order, log["spin"])) for order in found
                if len(order) == len(log["spin"]) and len(set(zip(order, log["spin"]))) == len(set(order)) == 4)
found = [[by_index[index] for index in order] for order in found]
assert sorted(found) == sorted(log.values()), "the order of a lock differs from the log"
assert any(readers.values())
print(sum(map(len, found)), "acquisitions")
