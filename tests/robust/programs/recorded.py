#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the tables flat and locks (report --format json) one after the other.  Prints their numbers of calls
of `leaf` and of acquired mutexes; 0 0 for an empty input."""
import json
import sys


def main():
    text, calls, locks = sys.stdin.read().lstrip(), 0, 0
    while text:
        table, end = json.JSONDecoder().raw_decode(text)
        text = text[end:].lstrip()
        calls += sum(f["calls"] for f in table.get("functions", []) if f["name"] == "leaf")
        locks += sum(k["acquired"] for k in table.get("locks", []) if k["type"] == "mutex")
    print(calls, locks)


main()
