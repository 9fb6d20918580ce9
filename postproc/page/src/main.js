// SPDX-License-Identifier: MIT
import {readDocument} from './load.js';
import {el} from './dom.js';

const page = document.getElementById('page');
try {
	const doc = await readDocument(document.getElementById('gprof-mt-data').textContent);
	page.append(el('h1', {}, doc.program), el('ol', {}, doc.findings.map(f => el('li', {}, f.text))));
} catch (error) {
	page.append(el('p', {role: 'alert'}, error.message));
}
