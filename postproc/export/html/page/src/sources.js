// SPDX-License-Identifier: MIT
//
// The source lines around call sites, one file at a time, with the wait time of each line.
import {el} from './dom.js';
import {count, duration} from './format.js';
import {choice, nothing, section} from './section.js';

class Sources {
	#capture;
	#files;
	#file;
	#line = null;
	#waits = new Map();
	#body = el('div', {class: 'scroll source', tabindex: 0, role: 'region'});
	#choice;

	constructor({capture}) {
		this.#capture = capture;
		this.#files = capture.doc.files;
		this.#file = Math.max(0, this.#files.findIndex(({lines}) => lines.length > 0));
		this.#choice = choice('File', this.#files.map(({path}, i) => [i, path]), i => this.show(Number(i), null));
		this.node = section('sources', 'Source', 'Marked lines are call sites, with their wait times and calls.',
			el('div', {class: 'tools'}, this.#choice.node), this.#body);
		this.#choice.select.value = this.#file;
	}

	update(range) {
		const {doc} = this.#capture;
		this.#waits.clear();
		for (const {site, count: n, wait} of this.#capture.rows('operations', range, {keys: ['site'], sums: ['count', 'wait']})) {
			if (site < 0 || doc.sites[site].file < 0)
				continue;
			const key = `${doc.sites[site].file} ${doc.sites[site].line}`;
			const sum = this.#waits.get(key) ?? {n: 0, wait: 0};
			this.#waits.set(key, {n: sum.n + (n || 0), wait: sum.wait + (wait || 0)});
		}
		this.#draw();
	}

	/** Shows a file and scrolls to the line unless it is null. */
	show(file, line) {
		if (!this.#files[file])
			return;
		this.#file = file;
		this.#line = line;
		this.#choice.select.value = file;
		this.#draw();
		const row = line === null ? null : this.#body.querySelector(`[data-line="${line}"]`);
		if (row) {
			this.node.scrollIntoView({block: 'start'});
			row.scrollIntoView({block: 'nearest'});
			this.#body.scrollTop = row.offsetTop - this.#body.clientHeight / 2;
			row.focus({preventScroll: true});
		}
	}

	#row([number, text], sites, longest) {
		const at = this.#waits.get(`${this.#file} ${number}`);
		const row = el('tr', {'data-line': number, tabindex: -1,
			class: `${sites.has(number) ? 'site' : ''}${number === this.#line ? ' chosen-row' : ''}`},
		el('td', {class: 'time'}, at?.wait > 0 ? duration(at.wait) : ''),
		el('td', {class: 'count'}, at?.n > 0 ? `${count(at.n)} ×` : ''),
		el('th', {scope: 'row', class: 'count'}, String(number)), el('td', {class: 'code'}, text));
		if (at?.wait > 0)
			row.firstChild.style.setProperty('--share', `${(100 * at.wait / longest).toFixed(1)}%`);
		return row;
	}

	// The focused line keeps the focus.
	#draw() {
		const focused = this.#body.contains(document.activeElement) ? document.activeElement.dataset.line : undefined;
		this.#fill();
		if (focused)
			this.#body.querySelector(`[data-line="${focused}"]`)?.focus({preventScroll: true});
	}

	#fill() {
		const {lines, path, why} = this.#files[this.#file];
		const sites = new Set(this.#capture.doc.sites.filter(({file}) => file === this.#file).map(({line}) => line));
		const longest = [...this.#waits.values()].reduce((most, {wait}) => Math.max(most, wait), 0);
		this.#body.setAttribute('aria-label', path);
		if (lines.length === 0) {
			this.#body.replaceChildren(nothing(typeof why === 'string' ? why : 'This file was not found when the page was made.'));
			return;
		}
		const rows = [];
		lines.forEach((line, i) => {
			if (i && line[0] > lines[i - 1][0] + 1)
				rows.push(el('tr', {class: 'gap'}, el('td', {colspan: 4}, '⋯')));
			rows.push(this.#row(line, sites, longest));
		});
		this.#body.replaceChildren(el('table', {class: 'lines'}, el('caption', {class: 'unseen'}, path),
			el('thead', {class: 'unseen'}, el('tr', {}, ['Wait', 'Calls', 'Line', 'Text'].map(title => el('th', {scope: 'col'}, title)))),
			el('tbody', {}, rows)));
	}
}

export function sourcesView(app) {
	if (app.capture.doc.files.length === 0)
		return {node: section('sources', 'Source', null, nothing('No source lines are in this page.')), update() {}, show() {}};
	return new Sources(app);
}
