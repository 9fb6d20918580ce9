// SPDX-License-Identifier: MIT
//
// The box beside the pointer. If the keyboard triggered it, its text is also announced to screen readers.
import {el} from './dom.js';

const box = el('div', {class: 'tip', role: 'tooltip', hidden: true});
const spoken = el('div', {class: 'unseen', 'aria-live': 'polite'});

/** Elements that must be in the page. */
export const tip = [box, spoken];

/** lines: text, or [name, text] pairs. */
export function showTip(x, y, lines, speak = false) {
	box.replaceChildren(...lines.filter(Boolean).map(line => Array.isArray(line) ?
		el('div', {class: 'pair'}, el('span', {class: 'key'}, line[0]), el('span', {class: 'value'}, line[1])) :
		el('div', {class: 'head'}, line)));
	box.hidden = false;
	const {width, height} = box.getBoundingClientRect();
	box.style.left = `${Math.max(4, x + 14 + width > innerWidth ? x - width - 14 : x + 14)}px`;
	box.style.top = `${Math.max(4, y + 14 + height > innerHeight ? y - height - 14 : y + 14)}px`;
	if (speak)
		spoken.textContent = lines.filter(Boolean).map(line => Array.isArray(line) ? line.join(': ') : line).join('. ');
}

export function hideTip() {
	box.hidden = true;
}
