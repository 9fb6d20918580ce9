# SPDX-License-Identifier: MIT
"""What the readers of traces have in common."""


class Slice:
    """begin == end: an instant.  within: the slice of the same track that it is nested in."""

    def __init__(self, track, name, begin, notes, within=None):
        self.track, self.name, self.begin, self.end, self.notes, self.within = track, name, begin, None, notes, within
        self.flows_out, self.flows_in = [], []
