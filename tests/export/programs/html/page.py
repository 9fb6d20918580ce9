# SPDX-License-Identifier: MIT
"""The document in a page of `gprof-mt export --format html`."""
import base64
import collections
import gzip
import json
import re
import subprocess


def read(path):
    text = open(path, encoding="utf-8").read()
    found = re.findall(r'id="?gprof-mt-data"?[^>]*>([A-Za-z0-9+/=\s]*)</script>', text)
    assert len(found) == 1, f"{path}: {len(found)} documents"
    return json.loads(gzip.decompress(base64.b64decode(found[0], validate=True)))


def rows(table):
    """The rows of a column table, each as an object."""
    columns = {k: v for k, v in table.items() if isinstance(v, list) and k != "notes"}
    assert all(len(v) == table["n"] for v in columns.values()), "columns of different lengths"
    return [dict(zip(columns, values)) for values in zip(*columns.values())]


def add_up(table, keys, figures, bins=None):
    """Sums of the figures by the keys, within those bins; None if one is unknown."""
    sums = {}
    for row in rows(table):
        if bins is not None and row["bin"] not in bins:
            continue
        of = sums.setdefault(tuple(row[k] for k in keys), collections.Counter())
        for figure in figures:
            if row[figure] is None or of[figure] is None:
                of[figure] = None
            elif figure.startswith("max_"):
                of[figure] = max(of[figure], row[figure])
            else:
                of[figure] += row[figure]
    return sums


def edge(doc, at):
    return doc["end_ns"] * at // doc["bins"]


class Program:
    """gprof-mt's output for one capture."""

    def __init__(self, path, capture):
        self.path, self.capture = path, capture

    def text(self, command, *words):
        return subprocess.run([self.path, command, "-i", self.capture, *words], check=True,
                              stdout=subprocess.PIPE).stdout.decode()

    def json(self, command, *words):
        return json.loads(self.text(command, "--format", "json", *words))
