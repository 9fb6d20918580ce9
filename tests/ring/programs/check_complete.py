# SPDX-License-Identifier: MIT
"""check_complete.py CAPTURE EVENTS: checks the capture of a ring by its events, as babeltrace2 prints them.

From the time on at which the last stream begins, the numbers of acquisitions (sync.order=on) have no gap, and the
last one is that of the last event of the run.  Call sites and nodes of call paths are defined before they are used.
"""
import glob
import os
import re
import struct
import sys

FIRST_NODE = 16
LINE = re.compile(r'^\[(\d+)\] (?:\([^)]*\) )?(\w+): \{ tid = \d+, index = (\d+) \}, \{ (.*) \}$')


def begin_of_ring(capture):
    """The last begin of a stream whose first files were removed."""
    begins = [0]
    streams = {}
    for path in glob.glob(capture + '/*/user/stream_*'):
        numbers = [int(n) for n in os.path.basename(path).split('_')[1:]]
        key = os.path.dirname(path), numbers[0]
        number = numbers[1] if len(numbers) > 1 else 0
        streams[key] = min(streams.get(key, (number, path)), (number, path))
    for number, path in streams.values():
        if number > 0:
            with open(path, 'rb') as file:
                head = file.read(72)
            begins.append(struct.unpack_from('<Q', head, 48)[0])
    return max(begins)


def main():
    begin_ns = begin_of_ring(sys.argv[1])
    sites, nodes, orders = {}, {}, []
    for line in open(sys.argv[2]):
        match = LINE.match(line)
        if not match:
            continue
        time_ns, event, index = int(match[1]), match[2], match[3]
        fields = dict(field.split(' = ') for field in match[4].split(', '))
        if event == 'site':
            sites.setdefault(index, set()).add(fields['number'])
        elif event == 'path':
            parent = int(fields['parent'])
            if parent >= FIRST_NODE and parent not in nodes.get(index, ()):
                sys.exit(f'{line}: its parent is not defined')
            nodes.setdefault(index, set()).add(int(fields['number']))
        elif event == 'call_path':
            if int(fields['path']) not in nodes.get(index, ()):
                sys.exit(f'{line}: its node is not defined')
        elif event == 'order':
            if time_ns >= begin_ns:
                orders.append(int(fields['number']))
        elif fields.get('site', '0') != '0' and fields['site'] not in sites.get(index, ()):
            sys.exit(f'{line}: its site is not defined')
    orders.sort()
    if not orders:
        sys.exit('no acquisition')
    if orders != list(range(orders[0], orders[0] + len(orders))):
        gaps = [(a, b) for a, b in zip(orders, orders[1:]) if b != a + 1]
        sys.exit(f'{len(orders)} acquisitions, with gaps {gaps[:5]}')
    print(f'{len(orders)} acquisitions, {orders[0]} to {orders[-1]}')


main()
