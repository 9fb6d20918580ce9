// SPDX-License-Identifier: MIT
//
// The frame of each view: a heading, a sentence that explains the view, and its body.
import {el} from './dom.js';

export const SECTIONS = [];

export function section(id, title, lead, ...body) {
	const node = el('section', {id, 'aria-labelledby': `${id}-title`},
		el('h2', {id: `${id}-title`}, title), lead ? el('p', {class: 'lead'}, lead) : null, ...body);
	SECTIONS.push({id, title});
	return node;
}

export function nothing(text) {
	return el('p', {class: 'nothing'}, text);
}

/** A labelled selection. options: [value, text] each. */
export function choice(label, options, onchange) {
	const select = el('select', {onchange: () => onchange(select.value)},
		options.map(([value, text]) => el('option', {value}, text)));
	return {node: el('label', {class: 'choice'}, label, ' ', select), select};
}

export function searchBox(label, oninput) {
	const input = el('input', {type: 'search', 'aria-label': label, placeholder: label, oninput: () => oninput(input.value)});
	return input;
}

/** A part that is closed initially, and filled when it is opened. */
export function folded(title, make) {
	const body = el('div');
	const node = el('details', {class: 'folded', ontoggle: () => node.open && body.replaceChildren(...make())},
		el('summary', {}, title), body);
	return {node, refresh: () => node.open && body.replaceChildren(...make())};
}
