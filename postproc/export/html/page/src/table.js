// SPDX-License-Identifier: MIT
//
// A table that can be sorted by any column and searched. A column is {key, title, help, type, text, cell}: type is
// 'text', 'time' or 'count'; text(row) is searched and shown, cell(row) is a node that replaces it; `bar` draws the
// figure in proportion to the largest; `wide` text gets more room.
import {el} from './dom.js';
import {count, duration, plural} from './format.js';
import {searchBox} from './section.js';

const SHOWN_AT_FIRST = 25;
const SHOWN_AT_MOST = 2000;
const FORMATS = {time: duration, count};

const known = value => !Number.isNaN(value) && value !== null && value !== undefined;

const classOf = ({type, wide}) => wide ? `${type} wide` : type;

function compare(a, b) {
	if (known(a) !== known(b))
		return known(a) ? 1 : -1;
	return typeof a === 'string' ? a.localeCompare(b, 'en', {numeric: true}) : a - b;
}

export class Table {
	#columns;
	#rows = [];
	#sorted;
	#search = '';
	#limit = SHOWN_AT_FIRST;
	#head;
	#body = el('tbody');
	#status = el('span', {class: 'status', role: 'status'});
	#more = el('button', {type: 'button', onclick: () => this.#showMore()});
	#none;

	/** sort: the initial sort column, largest first. search: whether to add a search box. */
	constructor({label, columns, sort, none = 'Nothing to show.', search = true}) {
		this.#columns = columns.map(column => ({text: row => this.#textOf(column, row), type: 'text', ...column}));
		this.#sorted = {key: sort, falling: true};
		this.#none = none;
		this.#head = el('tr', {}, this.#columns.map(column => this.#header(column)));
		this.node = el('div', {class: 'table'},
			el('div', {class: 'tools'}, search ? searchBox(`Search: ${label}`, text => this.#find(text)) : null, this.#status),
			el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label},
				el('table', {}, el('caption', {class: 'unseen'}, label), el('thead', {}, this.#head), this.#body)),
			this.#more);
	}

	setRows(rows) {
		this.#rows = rows;
		this.#draw();
	}

	#textOf(column, row) {
		const value = row[column.key];
		return FORMATS[column.type] ? FORMATS[column.type](value) : String(value);
	}

	#header(column) {
		return el('th', {scope: 'col', class: classOf(column), 'data-key': column.key, title: column.help},
			el('button', {type: 'button', onclick: () => this.#sortBy(column)}, column.title));
	}

	#sortBy(column) {
		const again = this.#sorted.key === column.key;
		this.#sorted = {key: column.key, falling: again ? !this.#sorted.falling : column.type !== 'text'};
		this.#draw();
	}

	#find(text) {
		this.#search = text.trim().toLowerCase();
		this.#limit = SHOWN_AT_FIRST;
		this.#draw();
	}

	#showMore() {
		this.#limit = SHOWN_AT_MOST;
		this.#draw();
	}

	#chosen() {
		const {key, falling} = this.#sorted;
		const column = this.#columns.find(one => one.key === key);
		const value = column?.type === 'text' ? column.text : row => row[key];
		const rows = this.#rows.filter(row => !this.#search ||
			this.#columns.some(one => one.text(row).toLowerCase().includes(this.#search)));
		const direction = falling ? -1 : 1;
		return rows.map(row => [value(row), row]).sort((a, b) => direction * compare(a[0], b[0])).map(([, row]) => row);
	}

	#cell(column, row, largest) {
		const figure = column.type !== 'text';
		const cell = el('td', {class: classOf(column)}, column.cell ? column.cell(row) : column.text(row));
		if (column.bar && figure && row[column.key] > 0)
			cell.style.setProperty('--share', `${(100 * row[column.key] / largest[column.key]).toFixed(1)}%`);
		return cell;
	}

	#draw() {
		const rows = this.#chosen();
		const shown = rows.slice(0, this.#limit);
		const largest = {};
		for (const {key, bar} of this.#columns)
			if (bar)
				largest[key] = rows.reduce((most, row) => Math.max(most, row[key] || 0), 0);
		this.#body.replaceChildren(...shown.map(row =>
			el('tr', {}, this.#columns.map(column => this.#cell(column, row, largest)))));
		if (shown.length === 0)
			this.#body.append(el('tr', {}, el('td', {colspan: this.#columns.length, class: 'nothing'},
				this.#search ? 'Nothing matches the search.' : this.#none)));
		for (const header of this.#head.children)
			header.setAttribute('aria-sort', header.dataset.key !== this.#sorted.key ? 'none' :
				this.#sorted.falling ? 'descending' : 'ascending');
		this.#status.textContent = plural(rows.length, 'row') + (shown.length < rows.length ? `, ${count(shown.length)} shown` : '');
		this.#more.hidden = shown.length === rows.length || this.#limit === SHOWN_AT_MOST;
		this.#more.textContent = `Show ${count(Math.min(rows.length, SHOWN_AT_MOST))}`;
	}
}
