// SPDX-License-Identifier: MIT
//
// Links from names: from a thread or object to its lane, from a call site to its source. They are fragments of this
// page, so that keyboard, history and bookmarks work as usual; main.js acts on them.
import {el} from './dom.js';

// Lets long paths wrap after a slash.
function breakable(text) {
	return text.split(/(?<=\/)/).flatMap((part, i) => i ? [el('wbr'), part] : [part]);
}

export function threadLink(capture, ref, none) {
	const name = capture.thread(ref, none);
	return ref < 0 ? el('span', {class: 'unknown'}, name) : el('a', {href: `#lane-thread-${ref}`}, name);
}

export function objectLink(capture, ref) {
	const name = capture.object(ref);
	return ref < 0 ? el('span', {class: 'unknown'}, name) : el('a', {href: `#lane-object-${ref}`}, breakable(name));
}

/** text: of the link; without it, that of the site. */
export function siteLink(capture, ref, text) {
	const site = capture.doc.sites[ref];
	if (!site)
		return el('span', {class: text ? null : 'unknown'}, text ?? 'unknown');
	if (site.file < 0 || capture.doc.files[site.file].lines.length === 0)
		return el('span', {}, breakable(text ?? site.text));
	return el('a', {href: `#source-${site.file}-${site.line}`}, breakable(text ?? site.text));
}

/** Parses a fragment: ['lane', 'thread', 3] or ['source', 2, 45]; null for other fragments. */
export function target(fragment) {
	const lane = fragment.match(/^#lane-(thread|object)-(\d+)$/);
	if (lane)
		return ['lane', lane[1], Number(lane[2])];
	const source = fragment.match(/^#source-(\d+)-(\d+)$/);
	return source && ['source', Number(source[1]), Number(source[2])];
}
