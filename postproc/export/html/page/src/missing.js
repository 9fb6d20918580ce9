// SPDX-License-Identifier: MIT
//
// Lists data that the page does not show, with reasons.
import {el} from './dom.js';
import {section} from './section.js';

export function missingView({capture}) {
	const {missing} = capture.doc;
	return {
		node: section('missing', 'Missing data', null, missing.length === 0 ?
			el('p', {class: 'nothing'}, 'No data was lost or left out.') :
			el('dl', {class: 'missing'}, missing.map(({what, reason}) => [el('dt', {}, what), el('dd', {}, reason)]))),
		update() {},
	};
}
