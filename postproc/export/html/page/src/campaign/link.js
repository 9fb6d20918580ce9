// SPDX-License-Identifier: MIT
//
// Links from the page to files beside it. A path never becomes more than a relative path.
import {el} from '../dom.js';

// The first part must not be read as a scheme, nor any part as a query or fragment.
const address = path => `./${path.split('/').map(encodeURIComponent).join('/')}`;

export function fileLink(path, text, title) {
	return el('a', {href: address(path), title}, text);
}

/** The last parts of a path, which tell the captures of a campaign apart. */
export const lastPart = path => path.replace(/\/+$/, '').split('/').pop() || path;
