// SPDX-License-Identifier: MIT
//
// The reader's actions on the page: point, zoom, drag, sort, search, follow links, use only the
// keyboard, change the theme, print.
import {AXIS, BAR, BAR_TOP, GUTTER, ROW} from '../../postproc/export/html/page/src/layout.js';
import {encode} from './fill.mjs';
import {known, HOSTILE} from './document.mjs';
import {drawn, holds, inSight, rows, same, toTop, withBrowser, written} from './browser.mjs';

const END_NS = 4e6;
const LANES = {main: 0, 'worker-1': 1, other: 2, queue: 3, done: 4};

// The position of a time in a lane, on a canvas that shows the whole run.
async function place(page, lane, ns) {
	const box = await page.locator('canvas.lanes').boundingBox();
	return {x: box.x + GUTTER + (box.width - GUTTER) * ns / END_NS, y: box.y + AXIS + LANES[lane] * ROW + ROW / 2};
}

async function hover(page, lane, ns) {
	const {x, y} = await place(page, lane, ns);
	await page.mouse.move(x, y);
	const lines = await page.locator('.tip .pair').evaluateAll(list => list.map(line => [...line.children].map(part => part.textContent)));
	return Object.fromEntries(lines);
}

const sight = page => page.locator('canvas.lanes').evaluate(({dataset}) => [Number(dataset.fromNs), Number(dataset.toNs)]);
const range = page => page.locator('#summary').getAttribute('data-range');
const round = list => list.map(ns => Math.round(ns / 1000));
const until = (page, test, argument) => page.waitForFunction(test, argument);

// The color of the canvas at positions of lanes; the canvas is drawn in an animation frame of its
// own.
async function colors(page, places) {
	await drawn(page);
	return page.evaluate(([list, measures]) => {
		const canvas = document.querySelector('canvas.lanes');
		const {data, width} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
		return list.map(([row, part]) => {
			const x = Math.round(measures.GUTTER + (width - measures.GUTTER) * part);
			const y = measures.AXIS + row * measures.ROW + measures.BAR_TOP + measures.BAR / 2;
			const hex = [...data.slice((y * width + x) * 4, (y * width + x) * 4 + 3)].map(byte => byte.toString(16).padStart(2, '0')).join('');
			return `#${hex}`;
		});
	}, [places, {AXIS, BAR, BAR_TOP, GUTTER, ROW}]);
}

const variables = (page, names) => page.evaluate(list => list.map(name =>
	getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()), names);

async function checkPicture(page, theme) {
	const [running, blocked, held, waited] = await variables(page, ['running', 'blocked', 'held', 'runnable'].map(name => `state-${name}`));
	same(await colors(page, [[0, 0.06], [0, 0.41], [3, 0.35], [3, 0.6], [4, 0.4], [2, 0.02]]), [running, blocked, held, blocked, waited, running],
		`${theme}: lanes have the colours of their states`);
}

async function checkHover(page) {
	await inSight(page, 'timeline', '0-4');
	same(await hover(page, 'worker-1', 500e3), {State: 'blocked', Object: 'queue', Blocker: HOSTILE, Blocked: 'worker-1',
		Wait: '200 us, pthread_mutex_lock, from 0.000400 s', 'Waits at': 'take (known.c:12)', 'Blocker at': 'work (gone.c:5)'}, 'hover: a blocked thread');
	same(await hover(page, 'main', 3200e3), {State: 'blocked', Object: 'done', Blocker: HOSTILE, Blocked: 'main',
		Wait: '3.00 ms, sem_wait, from 0.000500 s', 'Waits at': 'main (known.c:20)'}, 'hover: main');
	same((await hover(page, 'worker-1', 200e3)), {State: 'running', Object: 'none', Blocker: 'none', Blocked: 'none'}, 'hover: a thread that runs');
	const other = await hover(page, 'other', 300e3);
	same([other.State, other.Object], ['runnable, no CPU 60.0 %, running 40.0 %', 'none'], 'hover: a lane of cells');
	same((({Object: object, Blocker, Blocked}) => [object, Blocker, Blocked])(await hover(page, 'other', 2900e3)), ['done', HOSTILE, 'main'],
		'hover: a thread that others wait for');
	same((({Object: object, Blocker, Blocked}) => [object, Blocker, Blocked])(await hover(page, 'queue', 1800e3)), ['queue', 'main', 'worker-1'],
		'hover: an object that is waited for');
	same(await hover(page, 'queue', 1000e3), {State: 'held', Object: 'queue', Blocker: 'none', Blocked: 'none'}, 'hover: an object that is held');
}

// Two clicks that Playwright sends to Firefox may be no double click there: then the event is sent to the canvas.
async function clickTwice(page, {x, y}) {
	await page.evaluate(() => document.addEventListener('dblclick', () => { document.body.dataset.double = '1'; }, {capture: true, once: true}));
	await page.mouse.dblclick(x, y);
	await page.evaluate(([clientX, clientY]) => {
		if (!document.body.dataset.double)
			document.querySelector('canvas.lanes').dispatchEvent(new MouseEvent('dblclick', {clientX, clientY, bubbles: true, cancelable: true}));
	}, [x, y]);
}

async function checkZoom(page) {
	const at = await place(page, 'main', 1e6);
	await page.mouse.move(at.x, at.y);
	await page.keyboard.down('Control');
	await page.mouse.wheel(0, -500);
	await page.keyboard.up('Control');
	await until(page, () => Number(document.querySelector('canvas.lanes').dataset.toNs) < 3.9e6);
	const zoomed = await sight(page);
	holds(zoomed[1] - zoomed[0] < 3e6 && zoomed[0] < 1e6 && zoomed[1] > 1e6, 'wheel: less in sight, around the pointer');
	same(Math.round((1e6 - zoomed[0]) / (zoomed[1] - zoomed[0]) * 100), 25, 'wheel: the pointer stays where it is');

	await page.mouse.down();
	await page.mouse.move(at.x - 120, at.y, {steps: 4});
	await page.mouse.up();
	await until(page, from => Number(document.querySelector('canvas.lanes').dataset.fromNs) > from, zoomed[0]);
	const panned = await sight(page);
	same(Math.round((panned[1] - panned[0]) / 1000), Math.round((zoomed[1] - zoomed[0]) / 1000), 'drag: as much in sight as before');
	same(await range(page), '0-4', 'zoom and drag select nothing');

	const showAll = async () => {
		await page.getByRole('button', {name: 'Show the selected time'}).click();
		same(round(await sight(page)), [0, 4000], 'all in sight again');
	};
	await showAll();
	await clickTwice(page, at);
	await until(page, () => (({fromNs, toNs}) => toNs - fromNs < 3e6)(document.querySelector('canvas.lanes').dataset));
	const closer = await sight(page);
	same([Math.round(closer[1] - closer[0]), Math.round((1e6 - closer[0]) / 2e4)], [2e6, 25], 'double click: half as much in sight, around the pointer');
	await showAll();
	await page.mouse.move(at.x, at.y);
	await page.mouse.down();
	await page.mouse.move(at.x + 120, at.y, {steps: 4});
	await page.mouse.up();
	same(round(await sight(page)), [0, 4000], 'drag: nothing beyond the ends comes into sight');
	await page.getByRole('button', {name: 'Zoom in'}).click();
	same(round(await sight(page)), [1000, 3000], 'zoom in: the middle half');
	await page.getByRole('button', {name: 'Earlier'}).click();
	same(round(await sight(page)), [500, 2500], 'a quarter earlier');
	await page.getByRole('button', {name: /Select the visible time/}).click();
	await inSight(page, 'timeline', '0-3');
	same(round(await sight(page)), [0, 3000], 'the visible time is selected, in whole bins');
	await page.locator('#range-whole').click();
	await inSight(page, 'timeline', '0-4');
}

async function checkDrags(page) {
	const from = await place(page, 'main', 1.2e6), to = await place(page, 'main', 1.8e6);
	await page.keyboard.down('Shift');
	await page.mouse.move(from.x, from.y);
	await page.mouse.down();
	await page.mouse.move(to.x, to.y, {steps: 3});
	await page.mouse.up();
	await page.keyboard.up('Shift');
	await inSight(page, 'timeline', '1-2');
	holds(true, 'Shift and drag on the lanes select a time');

	await toTop(page);
	const strip = await page.locator('.strip').boundingBox();
	await page.mouse.move(strip.x + strip.width * 0.55, strip.y + 10);
	await page.mouse.down();
	await page.mouse.move(strip.x + strip.width * 0.9, strip.y + 10, {steps: 3});
	await page.mouse.up();
	await inSight(page, 'timeline', '2-4');
	holds(true, 'dragging over the strip chooses a time');
	await page.locator('#range-whole').click();
	await inSight(page, 'timeline', '0-4');
}

async function checkTable(page) {
	await inSight(page, 'tables', '0-4');
	await page.getByRole('tab', {name: 'Longest waits'}).click();
	const table = page.locator('#panel-longest table');
	const column = async n => (await rows(table)).map(row => row[n]);
	const head = name => table.getByRole('button', {name});
	await head('Began').click();
	same([await column(0), await table.locator('[data-key=start]').getAttribute('aria-sort')],
		[['800 us', '400 us', '100 us', '3.00 ms', '200 us'], 'descending'], 'sort: the latest first');
	await head('Began').click();
	same([await column(0), await table.locator('[data-key=start]').getAttribute('aria-sort')],
		[['200 us', '3.00 ms', '100 us', '400 us', '800 us'], 'ascending'], 'sort: the earliest first');
	await head('Operation').click();
	same((await column(3))[4], 'sem_wait', 'sort: by name');
	await page.getByRole('searchbox', {name: 'Search: Longest waits'}).fill('SEM_');
	same(await column(0), ['3.00 ms'], 'search');
	same(await page.locator('#panel-longest .status').innerText(), '1 row', 'search: how many');
	await page.getByRole('searchbox', {name: 'Search: Longest waits'}).fill('no such thing');
	same(await column(0), ['Nothing matches the search.'], 'search: nothing');
	await page.getByRole('tab', {name: 'Longest waits'}).press('ArrowLeft');
	holds(await page.locator('#panel-meetings').isVisible(), 'arrow keys go from tab to tab');
}

async function checkFlame(page) {
	await inSight(page, 'flame', '0-4');
	const status = () => page.locator('#flame-status').innerText();
	const box = name => page.locator(`#flame .box[aria-label^="${name}"]`);
	const width = async name => Number(await box(name).locator('rect').getAttribute('width'));
	same(Math.round(await width('take') / await width('main') * 100), 50, 'flame: take is half of main');
	same(await box('take').getAttribute('aria-label'), 'take: Total 1.00 ms, 50.0 %; Own 1.00 ms, 50.0 %', 'flame: in words');
	await box('work').hover();
	same(await page.locator('.tip').innerText(), 'work\nTotal\n1.30 ms, 65.0 %\nOwn\n300 us, 15.0 %', 'flame: hover');
	await box('work').click();
	same(await status(), '2.00 ms in total; shown: work, 1.30 ms', 'flame: a click widens');
	same(await width('work'), await width('main'), 'flame: as wide as the graph');
	await box('work').press('ArrowDown');
	holds(await box('take').evaluate(node => node === document.activeElement), 'flame: down to the callee');
	await box('take').press('Escape');
	same(await status(), '2.00 ms in total', 'flame: Escape shows all');
	await page.getByRole('searchbox', {name: 'Function', exact: true}).fill('take');
	same(await status(), '2.00 ms in total; found: 1.00 ms, 50.0 %', 'flame: search');
	same(await page.locator('#flame .found').count(), 1, 'flame: what was found is marked');
	await page.getByRole('searchbox', {name: 'Function', exact: true}).fill('');
	await page.getByText('By function, as a table').click();
	await page.locator('#flame details tbody tr').first().waitFor();
	same(await rows(page.locator('#flame details table')), [['main', '2.00 ms', '500 us'], ['work', '1.30 ms', '300 us'],
		['take', '1.00 ms', '1.00 ms'], [HOSTILE, '200 us', '200 us']], 'flame: as a table');
	await page.locator('#flame select').nth(1).selectOption({label: 'main (100)'});
	same(await status(), '500 us in total', 'flame: of one thread');
	await page.locator('#flame select').nth(1).selectOption({label: 'all threads'});

	// An icicle, with callers above, or a flame graph, with callers below.
	const top = async name => Number(await box(name).locator('rect').getAttribute('y'));
	holds(await top('main') < await top('work') && await top('work') < await top('take'), 'flame: callers above');
	await page.locator('#flame select').nth(2).selectOption({label: 'callers below'});
	holds(await top('main') > await top('work') && await top('work') > await top('take'), 'flame: callers below');
	same(await top('take'), 0, 'flame: the deepest callee is at the top');
	await box('work').press('ArrowUp');
	holds(await box('take').evaluate(node => node === document.activeElement), 'flame: up to the callee');
	await box('take').press('ArrowDown');
	holds(await box('work').evaluate(node => node === document.activeElement), 'flame: down to the caller');
	await page.locator('#flame select').first().selectOption({label: 'On-CPU and off-CPU'});
	same(await status(), '5.50 ms in total', 'flame: wall time');
}

async function checkBlame(page) {
	await inSight(page, 'blame', '0-4');
	const status = () => page.locator('#blame .half .status').allInnerTexts();
	const box = (side, name) => page.locator(`#blame .${side} .box[aria-label^="${name}: "]`);
	const causes = async () => (await rows(page.locator('#blame > .table table'))).map(row => [row[1], row[5], row[7], row[8]]);
	await box('holder', 'work').hover();
	same(await page.locator('.tip').innerText(), 'work\nTotal\n1.10 ms, 73.3 %\nMeanwhile\nrunning 83.6 %, runnable without a CPU 16.4 %', 'blame: hover');
	await box('holder', 'work').click();
	same(await status(), ['1.50 ms in total; shown: work, 1.10 ms', '1.10 ms in total that work caused'], 'blame: what a holder caused');
	same(await causes(), [['holder', '1.10 ms', '4', '920 us']], 'blame: the table of it');
	const nested = async () => (await rows(page.locator('#blame .nested table'))).map(row => [row[2], row[3], row[7]]);
	same(await nested(), [['done', 'caller', '70.0 us'], ['unknown', 'unknown: the wait of the holder was not followed', '20.0 us']], 'blame: what the holder was blocked on');
	await page.locator('#blame .waiter .box[aria-label^="work: Total 900 us"]').click();
	same(await status(), ['1.30 ms in total that work suffered; shown: work, 900 us', '1.10 ms in total that work caused; shown: work, 900 us'], 'blame: both sides');
	same(await causes(), [['holder', '900 us', '3', '720 us']], 'blame: the table of both');
	await box('holder', 'work').press('Escape');
	same(await status(), ['1.30 ms in total that work suffered', '1.50 ms in total; shown: work, 1.30 ms'], 'blame: what a waiter suffered');
	same(await causes(), [['holder', '900 us', '3', '720 us'], ['hand-over', '400 us', '1', '0']], 'blame: its causes');
	holds(await box('holder', 'work').evaluate(node => node === document.activeElement), 'blame: the focus stays');
	await box('holder', 'work').press('ArrowRight');
	holds(await box('holder', '[hand-over]').evaluate(node => node === document.activeElement), 'blame: the next cause');
	await box('holder', '[hand-over]').press('Enter');
	same(await page.locator('#blame .nested tbody').innerText(), 'No holder in the table above was blocked.', 'blame: a hand-over has no holder that was blocked');
	await page.locator('#blame').getByRole('button', {name: 'Show all'}).click();
	same(await status(), ['1.50 ms in total', '1.50 ms in total'], 'blame: all again');
	await page.getByRole('searchbox', {name: 'Function or object'}).fill('TAKE');
	same(await status(), ['1.50 ms in total; found: 0, 0.0 %', '1.50 ms in total; found: 1.50 ms, 100.0 %'], 'blame: search');
	await page.getByRole('searchbox', {name: 'Function or object'}).fill('');
	await page.locator('#blame table a', {hasText: 'queue'}).first().click();
	await until(page, () => document.activeElement.matches('canvas.lanes'));
	await page.evaluate(() => history.back());
	await until(page, () => location.hash === '');
	holds(true, 'blame: an object leads to its lane');
}

async function checkLinks(page) {
	await toTop(page);
	await page.locator('.findings a', {hasText: 'take (known.c:12)'}).click();
	await page.locator('.lines tr.chosen-row[data-line="12"]').waitFor();
	holds(await page.evaluate(() => document.activeElement.dataset.line === '12'), 'a site leads to its line');
	await page.evaluate(() => history.back());
	await until(page, () => location.hash === '');
	await inSight(page, 'tables', '0-4');
	await page.getByRole('tab', {name: 'Objects'}).click();
	await page.locator('#panel-objects a', {hasText: 'queue'}).click();
	await until(page, () => document.activeElement.matches('canvas.lanes'));
	same((await page.locator('.tip .head').innerText()).split(',')[0], 'queue', 'an object leads to its lane');
	await page.locator('#panel-objects a', {hasText: 'queue'}).click();
	await until(page, () => document.activeElement.matches('canvas.lanes'));
	holds(true, 'the same link leads there again');
}

async function checkPath(page) {
	await inSight(page, 'path', '0-4');
	await page.locator('svg.path g').nth(1).hover();
	same(await page.locator('.tip').evaluate(tip => [...tip.children].map(line => [...line.childNodes].map(part => part.textContent).join(': '))),
		['worker-1, from 0.000500 s', 'Time: 1.50 ms', 'State: running 900 us, blocked, not woken by a thread 600 us',
			'Since: pthread_mutex_lock at take (known.c:12)', `Then: ${HOSTILE}, which waited for queue`], 'a segment of the path says what it is');
	// The threads' lanes and the parts of a segment, in proportion to its states.
	const [running, blocked] = await page.locator('svg.path g').nth(1).locator('rect').evaluateAll(list => list.map(({height, y, x, width}) =>
		[height, y, x, width].map(({baseVal: {value}}) => value)));
	same(round([running[0] * 1e6, blocked[0] * 1e6]), round([BAR * 0.6 * 1e6, BAR * 0.4 * 1e6]), 'its parts are as high as its states are long');
	same(Math.round(running[1] + running[0]), AXIS + BAR_TOP + BAR, 'it is in the lane of its thread');
	const width = await page.locator('svg.path').evaluate(node => node.viewBox.baseVal.width);
	same([running[2], running[3]].map(Math.round), [GUTTER + (width - GUTTER) / 8, (width - GUTTER) * 3 / 8].map(Math.round), 'it is as long as its time');
	await page.getByRole('tab', {name: 'By last call', exact: true}).click();
	await page.locator('#panel-path-calls a', {hasText: 'sem_wait at main'}).click();
	await until(page, () => document.activeElement.dataset.line === '20');
	holds(true, 'a call on the path leads to its line');
	await page.getByRole('tab', {name: 'By thread', exact: true}).click();
	await page.locator('#panel-path-threads a', {hasText: 'worker-1'}).click();
	await until(page, () => document.activeElement.matches('canvas.lanes'));
	same((await page.locator('.tip .head').innerText()).split(',')[0], 'worker-1', 'a thread on the path leads to its lane');
}

async function checkKeyboard(page) {
	await page.locator('canvas.lanes').focus();
	await page.keyboard.press('Escape');
	const spoken = () => page.locator('[aria-live=polite]').textContent();
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowRight');
	same((await spoken()).split('. ').slice(0, 4), ['worker-1, at 0.000400 s', 'State: blocked', 'Object: queue', `Blocker: ${HOSTILE}`],
		'the arrow keys go from step to step, and say what is there');
	await page.keyboard.press('+');
	holds((await sight(page))[1] - (await sight(page))[0] < END_NS, 'plus zooms');
	await page.keyboard.press('0');
	same(round(await sight(page)), [0, 4000], '0 shows all');

	// Tab starts at the top of the page.
	await page.locator('#page').evaluate(node => {
		node.tabIndex = -1;
		node.focus();
	});
	const reached = new Set();
	for (let i = 0; i < 200; i++) {
		await page.keyboard.press('Tab');
		reached.add(await page.evaluate(() => {
			const {id, className, tagName} = document.activeElement;
			return document.activeElement.closest('section')?.id + ' ' + (id || (className.baseVal ?? className).split(' ')[0] || tagName);
		}));
	}
	for (const what of ['undefined range-from', 'undefined range-to', 'undefined theme', 'timeline lanes', 'blame box', 'tables tab-objects', 'flame box', 'flame SELECT',
		'graphs arrow', 'distribution bar', 'distribution plain', 'sources scroll'])
		holds(reached.has(what), `Tab reaches ${what}`);
}

// WCAG's contrast of two colors, #rrggbb.
function contrast(a, b) {
	const light = color => [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16) / 255)
		.map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
		.reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
	const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
	return (high + 0.05) / (low + 0.05);
}

async function checkTheme(page, theme) {
	same(await page.locator('html').getAttribute('data-theme'), theme, `${theme} as the system has it`);
	for (const front of ['text', 'quiet', 'accent'])
		for (const back of ['panel', 'back', 'line', 'accent-soft', 'bar']) {
			const [a, b] = await variables(page, [front, back]);
			holds(front !== 'text' && back === 'bar' || contrast(a, b) >= 4.5, `${theme}: ${front} on ${back}: ${contrast(a, b).toFixed(1)}`);
		}
	for (const state of ['running', 'runnable', 'blocked', 'io', 'held', 'other']) {
		const [a, b] = await variables(page, [`state-${state}`, 'panel']);
		holds(contrast(a, b) >= 2, `${theme}: ${state} is seen: ${contrast(a, b).toFixed(1)}`);
	}
}

// Firefox cannot emulate printed media.
async function checkPaper(page) {
	if (process.env.FIREFOX)
		return;
	await page.emulateMedia({media: 'print'});
	await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
	same(await page.locator('html').getAttribute('data-theme'), 'light', 'paper is light');
	for (const panel of await page.locator('[role=tabpanel]').all())
		holds(await panel.isVisible() && await panel.locator('tbody tr').count() > 0, 'paper: every table');
	holds(!await page.locator('nav').isVisible() && await page.locator('.tools button:visible, .tools input:visible').count() === 0, 'paper: no controls');
	holds(await page.locator('#panel-longest .status').isVisible() && await page.locator('#flame select').first().isVisible(), 'paper: how many rows, and which flames');
	await page.evaluate(() => dispatchEvent(new Event('afterprint')));
	await page.emulateMedia({media: null});
}

const file = written('hands', encode(known()));

await withBrowser(async open => {
	const page = await open(file);
	await inSight(page, 'timeline', '0-4');
	await checkPicture(page, 'light');
	for (const check of [checkHover, checkZoom, checkDrags, checkTable, checkFlame, checkBlame, checkLinks, checkPath, checkKeyboard])
		await check(page);
	await checkTheme(page, 'light');
	await page.locator('#theme').click();
	same(await page.locator('html').getAttribute('data-theme'), 'dark', 'the button chooses dark');
	await checkPaper(page);
	same(page.sins, [], 'no error, no dialog, no request');
});

// The content when a browser announces printing: of a dark page, of which only a part was visible.
async function checkPrint(page) {
	const [background, tables] = await page.evaluate(() => {
		const canvas = document.querySelector('canvas.lanes');
		dispatchEvent(new Event('beforeprint'));
		const pixel = [...canvas.getContext('2d').getImageData(canvas.width / 2, 1, 1, 1).data];
		const counts = [...document.querySelectorAll('[role=tabpanel]')].map(panel => panel.querySelectorAll('tbody tr td:nth-child(2)').length);
		dispatchEvent(new Event('afterprint'));
		return [pixel, counts];
	});
	same([background, tables], [[255, 255, 255, 255], [3, 3, 3, 3, 4, 2, 3, 5, 2, 2, 2]], 'paper: the lanes are light, every table is full');
	same(await page.locator('html').getAttribute('data-theme'), 'dark', 'paper: the screen stays dark');
}

await withBrowser(async open => {
	const short = await open(file, {viewport: {width: 1280, height: 300}});
	await checkPrint(short);
	same(short.sins, [], 'paper: no error, no dialog, no request');

	const page = await open(file);
	await inSight(page, 'timeline', '0-4');
	await checkTheme(page, 'dark');
	await checkPicture(page, 'dark');
	same(page.sins, [], 'dark: no error, no dialog, no request');
}, 'dark');
