// SPDX-License-Identifier: MIT
//
// The page: reads its data, creates the views, and updates them when another time is chosen. The data of a campaign has
// a page of its own.
import {blameView} from './blame.js';
import {campaign} from './campaign/page.js';
import {Capture} from './capture.js';
import {distributionView} from './distribution.js';
import {el} from './dom.js';
import {flameView} from './flame.js';
import {day, duration, plural, setOrigin} from './format.js';
import {graphsView} from './graphs.js';
import {head, message, navigation} from './head.js';
import {target} from './links.js';
import {readDocument} from './load.js';
import {missingView} from './missing.js';
import {pathView} from './path.js';
import {RangeBar} from './rangebar.js';
import {SECTIONS} from './section.js';
import {sourcesView} from './sources.js';
import {summaryView} from './summary.js';
import {tablesView} from './tables.js';
import {timelineView} from './timeline.js';
import {tip} from './tip.js';

const page = document.getElementById('page');

// Views are updated when they become visible, so that choosing a time is fluid in a large capture, too. A view that
// fails does not affect the others.
class Views {
	#views;
	#seen = new Set();
	#range;

	constructor(views) {
		this.#views = views;
		const observer = new IntersectionObserver(entries => {
			for (const {target: node, isIntersecting} of entries)
				this.#seen[isIntersecting ? 'add' : 'delete'](node);
			this.#refresh(view => this.#seen.has(view.node));
		}, {rootMargin: '200px'});
		views.forEach(({node}) => observer.observe(node));
		// The browser prints the page as soon as this returns.
		addEventListener('beforeprint', () => {
			this.#refresh(() => true);
			views.forEach(view => view.onPaper?.());
		});
	}

	update(range) {
		this.#range = range;
		this.#refresh(view => this.#seen.has(view.node));
	}

	#refresh(isWanted) {
		const name = `${this.#range.from}-${this.#range.to}`;
		for (const view of this.#views.filter(one => isWanted(one) && one.node.dataset.range !== name)) {
			view.node.dataset.range = name;
			try {
				view.update(this.#range);
			} catch {
				view.node.append(el('p', {class: 'nothing', role: 'alert'}, 'This part could not be drawn.'));
				view.update = () => {};
			}
		}
	}
}

function follow(timeline, sources) {
	const [what, ...which] = target(location.hash) ?? [];
	if (what === 'lane')
		timeline.goTo?.(...which);
	else if (what === 'source')
		sources.show(...which);
}

function show(capture) {
	const app = {capture};
	const bar = new RangeBar(capture, range => app.setRange(range));
	const timeline = timelineView(app), sources = sourcesView(app);
	const views = [summaryView(app), timeline, blameView(app), pathView(app), tablesView(app), flameView(app), graphsView(app), distributionView(app), sources, missingView(app)];
	SECTIONS.sort((a, b) => views.findIndex(({node}) => node.id === a.id) - views.findIndex(({node}) => node.id === b.id));
	const updated = new Views(views);
	let asked = false;
	app.setRange = range => {
		app.range = range;
		bar.update(range);
		if (asked)
			return;
		asked = true;
		requestAnimationFrame(() => {
			asked = false;
			updated.update(app.range);
		});
	};
	const {doc, endNs} = capture;
	page.append(head(doc.program, [doc.command, `${duration(endNs)}, ${plural(doc.threads.length, 'thread')}`, day(doc.date), doc.host, `gprof-mt ${doc.version}`]),
		el('div', {class: 'bar'}, bar.node, navigation(SECTIONS)),
		capture.isEmpty() ? message('This capture is empty', 'It has no threads and no waits.', 'status') : [],
		el('main', {}, views.map(({node}) => node), tip));
	app.setRange(capture.whole);
	addEventListener('hashchange', () => follow(timeline, sources));
	// Clicking the same link again does not change the fragment.
	page.addEventListener('click', ({target: node}) => node.closest?.('a[href]')?.hash === location.hash && follow(timeline, sources));
	requestAnimationFrame(() => requestAnimationFrame(() => follow(timeline, sources)));
}

try {
	const doc = await readDocument(document.getElementById('gprof-mt-data').textContent);
	document.title = `${doc.program} – gprof-mt`;
	if (doc.kind === 'campaign') {
		page.append(...campaign(doc));
	} else {
		setOrigin(doc.from_ns);
		show(new Capture(doc));
	}
} catch (error) {
	page.replaceChildren(el('main', {}, message('There is nothing to show', error.message, 'alert')));
}
page.dataset.ready = '';
