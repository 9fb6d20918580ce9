# SPDX-License-Identifier: MIT
# change_sample.py STREAM N: gives the last sample of the stream N periods (gmon-mt/samples.h).
import struct
import sys

HEAD = 72
PATH, SAMPLE, EXTENDED = 1, 2, 255
BYTES = {PATH: 16, SAMPLE: 8}

name, periods = sys.argv[1], int(sys.argv[2])
with open(name, 'r+b') as stream:
	data = stream.read()
	end = struct.unpack_from('<Q', data, 32)[0] // 8
	at, last = HEAD, None
	while at < end:
		kind = data[at]
		if kind == EXTENDED:
			kind, at = data[at + 1], at + 10
		else:
			at += 5
		if kind == SAMPLE:
			last = at + 4
		at += BYTES[kind]
	assert last, 'no sample'
	stream.seek(last)
	stream.write(struct.pack('<I', periods))
