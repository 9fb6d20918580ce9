# SPDX-License-Identifier: MIT
"""Classes that the readers of traces share."""


class Slice:
    """begin == end: an instant. within: the enclosing slice of the same track."""

    def __init__(self, track, name, begin, notes, within=None):
        self.track, self.name, self.begin, self.end, self.notes, self.within = track, name, begin, None, notes, within
        self.flows_out, self.flows_in = [], []
