#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/libuv.py BUILD DIR: runs libuv's own test suite, built in DIR by tests/apps/build.  The last
line is "N passed, N failed, N skipped".

The suite runs hundreds of programs one after the other, since they share ports and names of sockets.
Some tests fail without IPv6, multicast or a terminal; a test that fails unprofiled may fail profiled."""
import glob
import os
import re
import shutil
import sys

from ways import OURS, SYNCED, UNPROFILED, WAYS, App, Claims, compare_results, expect, same_arcs, same_as_uftrace

SUITE = "uv_run_tests_a"
# Tests with one thread, with the same calls in each run, which call uv_library_shutdown() themselves: when a
# destructor calls it, glibc has already stopped counting.
STEADY = ["fs_rename_to_existing_file", "fs_symlink_dir", "fs_write_alotof_bufs",
          "fs_write_alotof_bufs_with_offset", "fs_write_multiple_bufs", "ip6_pton", "loop_handles",
          "multiple_listen", "pipe_bind_error_addrinuse", "queue_foreach_delete",
          "socket_buffer_size", "tcp_bind_error_addrinuse_listen", "timer_order", "udp_bind",
          "udp_options", "watcher_cross_stop"]
THREADED = ["barrier_serial_thread", "fs_chmod", "fs_readdir_non_empty_dir", "thread_equal",
            "thread_local_storage", "thread_stack_size_explicit", "threadpool_multiple_event_loops",
            "threadpool_queue_work_simple"]
GIVE_UP_ROOT = ["spawn_setuid_fails", "spawn_setgid_fails"]


def work_folder(app, way):
    """Makes a directory with the fixtures of the tests, in which they may leave files."""
    work = app.folder(way + ".work")
    shutil.copytree(os.path.join(app.directory, "source/test/fixtures"),
                    os.path.join(work, "test/fixtures"))
    return work


def given_up(app, run, results):
    """Returns the losses of tests that give up root before their first synch-event or sample: these can no longer
    create a stream in the folder of the process, or that folder, which belong to root.  Each may cause one row."""
    givers = sum(results.get(test, "skip") != "skip" for test in GIVE_UP_ROOT) if os.geteuid() == 0 else 0
    rows = [r for r in app.report(run, "quality")["quality"] if "could not be made" in r["what"] or
            r["what"] == "process not recorded: Permission denied"]
    rows = [r for r in rows if not glob.glob(f"{run.capture}/{r['where'].split()[0]}/user/stream_*")]
    expect(len(rows) <= givers, f"expected at most {givers} losses, one for each test that gives up root, found {rows}")
    return rows


def run_suite(app, way, *tests):
    """{test: result}"""
    work = work_folder(app, way)
    run = app.run(way, [SUITE, *tests], cwd=work, UV_RUN_AS_ROOT="1", UV_TEST_TIMEOUT_MULTIPLIER="4")
    text = run.out.decode(errors="replace")
    results = {}
    for verdict, name, skip in re.findall(r"^(ok|not ok) \d+ - (\w+)( # SKIP)?", text, re.M):
        results[name] = "skip" if skip else verdict
    if not tests:
        planned = re.search(r"^1\.\.(\d+)$", text, re.M)
        failed = sum(r == "not ok" for r in results.values())
        expect(planned and len(results) == int(planned[1]), f"{way}: expected results of "
               f"{planned and planned[1]} tests, found {len(results)}: {run.err[-300:]!r}")
        expect(run.status == failed, f"{way}: expected exit status {failed}, the number of failed tests, got "
                                     f"{run.status}")
        if way in OURS:
            but = given_up(app, run, results) if way == SYNCED else ()
            processes = app.lost_nothing(run, but)
            expect(processes > len(results), f"{way}: expected profiles of more than {len(results)} processes, "
                                             f"found {processes}")
    shutil.rmtree(work)
    return results


def claim_suite(app, ways):
    results = {way: run_suite(app, way) for way in ways}
    return compare_results(results,
                           lambda way, test: run_suite(app, way, test).get(test, "not run"))


def claim_arcs(app):
    """Runs each test alone, in the process of the suite itself."""
    return "; ".join(f"{test} " + same_arcs(app, [SUITE, test, test], UV_RUN_AS_ROOT="1",
                                            make_cwd=lambda way: work_folder(app, way))
                     for test in STEADY)


def claim_uftrace(app):
    return "; ".join(f"{test}: " + same_as_uftrace(app, [SUITE, test, test], UV_RUN_AS_ROOT="1",
                                                   make_cwd=lambda way: work_folder(app, way))
                     for test in THREADED)


def main():
    build, directory = map(os.path.abspath, sys.argv[1:3])
    app, claims = App(build, directory), Claims("libuv")
    claims.check("its test suite: the same results", lambda: claim_suite(app, WAYS))
    claims.check("its test suite with libsync_trace preloaded: the same results",
                 lambda: claim_suite(app, (UNPROFILED, SYNCED)))
    claims.check("tests of one thread: the arcs that glibc counts", lambda: claim_arcs(app))
    claims.check("tests with threads: the calls that uftrace counts", lambda: claim_uftrace(app))
    return claims.close()


sys.exit(main())
