// SPDX-License-Identifier: MIT
//
// Writes the page with data in it, as gprof-mt does.
import {readFileSync, writeFileSync} from 'node:fs';
import {gzipSync} from 'node:zlib';

const MARKER = '<!--gprof-mt-data-->';

export const encode = doc => gzipSync(JSON.stringify(doc)).toString('base64');

/** text: replaces the marker. */
export function fill(page, out, text) {
	writeFileSync(out, readFileSync(page, 'utf8').replace(MARKER, () => text));
}
