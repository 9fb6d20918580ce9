// SPDX-License-Identifier: MIT
//
// What the page does not show, and why.
import {el} from './dom.js';
import {section} from './section.js';

export function missingView({capture}) {
	const {missing} = capture.doc;
	return {
		node: section('missing', 'What is not in this page', null, missing.length === 0 ?
			el('p', {class: 'nothing'}, 'Nothing was lost, and nothing was left out.') :
			el('dl', {class: 'missing'}, missing.map(({what, reason}) => [el('dt', {}, what), el('dd', {}, reason)]))),
		update() {},
	};
}
