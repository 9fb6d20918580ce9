// SPDX-License-Identifier: MIT
//
// The head of a page, and messages in place of its content.
import {el} from './dom.js';
import {themeButton} from './theme.js';

/** facts: texts; empty ones are left out. */
export function head(title, facts) {
	return el('header', {},
		el('div', {class: 'title'}, el('h1', {}, title || 'gprof-mt'), themeButton()),
		el('p', {class: 'facts'}, facts.filter(Boolean).map(text => el('span', {}, text))));
}

/** Links to the sections: {id, title} each. */
export function navigation(sections) {
	return el('nav', {'aria-label': 'Parts of this page'}, sections.map(({id, title}) => el('a', {href: `#${id}`}, title)));
}

export function message(title, text, role) {
	return el('div', {class: 'message', role}, el('h1', {}, title), el('p', {}, text));
}
