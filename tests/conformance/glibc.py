# SPDX-License-Identifier: MIT
"""Builds glibc's own tests of threads (some 330 programs) against the installed C library.

Tests that need glibc's internal headers cannot be built."""
import glob
import os
import shutil
import subprocess

from building import CC, compile_all, matches

FLAGS = ["-std=gnu11", "-O1", "-w", "-pthread", "-D_GNU_SOURCE", "-DTIMEOUTFACTOR=5",
         "-include", "errno.h", "-include", "stdlib.h", "-include", "limits.h",
         "-Dlibc_hidden_def(name)=", "-Dlibc_hidden_proto(name)=",
         # Paths of glibc's build products, which the tests of threads do not use.
         *(f'-D{name}_PATH="/nonexistent"' for name in (
             "SRCDIR", "OBJDIR", "OBJDIR_ELF_LDSO", "INSTDIR", "LIBDIR", "BINDIR", "SBINDIR",
             "ROOTSBINDIR", "COMPLOCALEDIR", "SYSCONFDIR", "SLIBDIR"))]
# Modules and variants of other tests, and files that are not part of the test driver.
SUPPORT_LEFT_OUT = ("test-driver.c", "tst-*", "*-container.c", "links-dso*", "test-run-command.c",
                    "*time64.c")
TESTS_LEFT_OUT = ("*mod.c", "*mod[0-9]*.c", "*-static.c", "*-time64.c")


def prepare_headers(source, directory):
    """Copies the headers of glibc's test driver, except those that would hide the installed ones."""
    include = os.path.join(directory, "include")
    os.makedirs(include)
    os.symlink(os.path.join(source, "support"), os.path.join(include, "support"))
    for header in ("include/intprops.h", "include/array_length.h", "include/scratch_buffer.h",
                   "sysdeps/x86_64/stackinfo.h"):
        with open(os.path.join(source, header), encoding="utf-8") as file:
            text = "".join(line for line in file if not line.startswith("libc_hidden_proto"))
        with open(os.path.join(include, os.path.basename(header)), "w", encoding="utf-8") as file:
            file.write(text)
    with open(os.path.join(include, "config.h"), "w", encoding="utf-8"):
        pass
    return ["-I", include, "-I", os.path.join(source, "support")]


def build_support(source, directory, includes):
    objects = os.path.join(directory, "support")
    os.makedirs(objects)
    commands = []
    for file in sorted(glob.glob(os.path.join(source, "support", "*.c"))):
        name = os.path.basename(file)
        if not matches(name, SUPPORT_LEFT_OUT):
            commands.append([CC, *FLAGS, *includes, "-c", file, "-o",
                             os.path.join(objects, name[:-2] + ".o")])
    compile_all(commands)
    archive = os.path.join(directory, "support.a")
    subprocess.run(["ar", "rcs", archive, *glob.glob(os.path.join(objects, "*.o"))], check=True)
    return archive


def build(source, directory, binaries, flags):
    """Builds all programs; returns for each whether it was built."""
    for name in ("include", "support", "tests"):
        shutil.rmtree(os.path.join(directory, name), ignore_errors=True)
    includes = prepare_headers(source, directory)
    archive = build_support(source, directory, includes)
    tests = os.path.join(directory, "tests", "nptl")
    os.makedirs(tests)
    shutil.copy(os.path.join(source, "test-skeleton.c"), os.path.dirname(tests))
    commands = []
    for file in sorted(glob.glob(os.path.join(source, "nptl", "*.[ch]")) +
                       glob.glob(os.path.join(source, "sysdeps", "pthread", "*.[ch]"))):
        name = os.path.basename(file)
        if matches(name, ("tst-*", "eintr.c")):
            shutil.copy(file, tests)
        if matches(name, ("tst-*.c",)) and not matches(name, TESTS_LEFT_OUT):
            commands.append([CC, *FLAGS, *includes, os.path.join(tests, name), archive, "-o",
                             os.path.join(binaries, name[:-2]), *flags, "-lrt", "-ldl", "-lm"])
    return compile_all(commands)
