// SPDX-License-Identifier: MIT
//
// Tables of which one is shown at a time; the arrow keys move between tabs. All tables are printed. A kind is what
// Table takes, with an id, rows(range), and notes on its figures.
import {el} from './dom.js';
import {Table} from './table.js';

export class Tabs {
	#kinds;
	#tables;
	#tabs;
	#panels;
	#shown = 0;
	#range = null;
	#filled;

	constructor(label, kinds) {
		this.#kinds = kinds;
		this.#tables = kinds.map(kind => new Table({...kind, label: kind.title}));
		this.#tabs = kinds.map((kind, i) => el('button', {type: 'button', role: 'tab', id: `tab-${kind.id}`,
			'aria-controls': `panel-${kind.id}`, onclick: () => this.#show(i)}, kind.title));
		this.#panels = kinds.map((kind, i) => el('div', {role: 'tabpanel', id: `panel-${kind.id}`, 'aria-labelledby': `tab-${kind.id}`},
			el('h3', {class: 'on-paper'}, kind.title), this.#tables[i].node,
			(kind.notes ?? []).map(note => el('p', {class: 'hint'}, note))));
		this.#filled = kinds.map(() => null);
		this.nodes = [el('div', {role: 'tablist', 'aria-label': label, onkeydown: event => this.#move(event)}, this.#tabs), this.#panels];
		this.#show(0);
	}

	#move(event) {
		const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
		if (!step)
			return;
		this.#show((this.#shown + step + this.#tabs.length) % this.#tabs.length);
		this.#tabs[this.#shown].focus();
	}

	// Hidden tables are filled when they are shown.
	#fill(i) {
		if (this.#range && this.#filled[i] !== this.#range)
			this.#tables[i].setRows(this.#kinds[i].rows(this.#range));
		this.#filled[i] = this.#range;
	}

	#show(i) {
		this.#shown = i;
		this.#fill(i);
		this.#tabs.forEach((tab, at) => {
			tab.setAttribute('aria-selected', at === i);
			tab.tabIndex = at === i ? 0 : -1;
			this.#panels[at].hidden = at !== i;
		});
	}

	update(range) {
		this.#range = range;
		this.#fill(this.#shown);
	}

	onPaper() {
		this.#kinds.forEach((_, i) => this.#fill(i));
	}
}
