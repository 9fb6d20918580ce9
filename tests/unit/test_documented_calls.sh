#!/bin/bash
# SPDX-License-Identifier: MIT
# gprof-mt-limits(7) and the design list the wrapped calls, and no others as wrapped.
. "$GM_TOP/tests/lib.sh"
need python3

python3 - "$GM_TOP" <<'END' || fail "the lists of wrapped calls differ"
import re
import sys

top = sys.argv[1]


def read(name):
    with open(f"{top}/{name}") as file:
        return file.read()


def wrapped(table):
    """Names in the rows `wrapped` of a table of the man page; `sem_ post` stands for sem_post."""
    names = set()
    for row in re.sub(r"(?m)^(seen by|not seen|kernel only).*", "", table.split("seen by the")[0]).split("T}"):
        for part in re.split(r"[;:]", row.split("T{")[-1]):
            words = re.findall(r"[A-Za-z_]\w*", part)
            prefix = words.pop(0) if words and words[0].endswith("_") else ""
            names |= {prefix + word for word in words}
    return names


def check(what, listed, real):
    for name in sorted(real - listed):
        print(f"{what}: {name} is not listed")
    return real <= listed


tables = [table.split(".TE")[0] for table in read("postproc/man/gprof-mt-limits.7").split(".TS")[1:]]
exported = set(re.findall(r"^\t\t(\w+);", read("libsync-trace/libsync-trace.map"), re.M))
family = re.compile(r"(pthread_|sem_|mtx_|cnd_|thrd_|call_once|t?g?kill|raise|sigqueue)\w*$")
calls = set(re.findall(r"^\tX\((\w+), \w+, \w+\)", read("libsync-trace/include/sync-trace/calls.h"), re.M))
calls -= {"futex", "futex_waitv"}
functions = {name for name in exported - calls if family.match(name) and name != "pthread_key_create"}
design = read("libsync-trace/DESIGN.md").split("\n## Blocking calls")[1].split("\n## ")[0]
good = [
    check("SYNCHRONIZATION", wrapped(tables[0]), functions),
    check("BLOCKING CALLS", wrapped(tables[1]), calls),
    check("DESIGN.md", set(re.findall(r"\w+", design)), calls),
]
for table, real in ((tables[0], functions), (tables[1], calls)):
    for name in sorted(wrapped(table)):
        if re.match(r"(pthread|sem|mtx|cnd|thrd)_\w", name) and name not in real:
            print(f"{name} is listed, and not wrapped")
            good.append(False)
sys.exit(not all(good))
END
