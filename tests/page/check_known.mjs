// SPDX-License-Identifier: MIT
//
// The page of the hand-written capture (document.mjs), for all and for a part of its time.
import {encode} from './fill.mjs';
import {known, HOSTILE} from './document.mjs';
import {inSight, rows, same, toTop, withBrowser, written} from './browser.mjs';

const TABS = {objects: 'Objects', meetings: 'Wait graph', longest: 'Longest waits', operations: 'Operations', threads: 'Threads', io: 'Blocking calls'};
const PATH_TABS = {calls: 'By last call', functions: 'By function', threads: 'By thread', objects: 'By object', segments: 'Segments'};

async function tableOf(page, tab) {
	await page.getByRole('tab', {name: TABS[tab], exact: true}).click();
	return rows(page.locator(`#panel-${tab} table`));
}

async function tables(page) {
	const out = {};
	for (const tab of Object.keys(TABS))
		out[tab] = await tableOf(page, tab);
	return out;
}

async function pathOf(page) {
	const out = {};
	for (const [id, title] of Object.entries(PATH_TABS)) {
		await page.getByRole('tab', {name: title, exact: true}).click();
		out[id] = await rows(page.locator(`#panel-path-${id} table`));
	}
	out.notes = await page.locator('#path .hint').allTextContents();
	out.status = await page.locator('#path > .status').innerText();
	out.segmentsDrawn = await page.locator('svg.path g').evaluateAll(list => list.map(one => [...one.children].map(part => part.getAttribute('class'))));
	out.passes = await page.locator('svg.path .pass').count();
	out.lanes = await page.locator('svg.path .name').allTextContents();
	return out;
}

async function flame(page, title) {
	await page.locator('#flame select').first().selectOption({label: title});
	return page.locator('#flame-status').innerText();
}

async function blameOf(page) {
	const shown = async () => [...await page.locator('#blame .half .status').allInnerTexts(), ...await rows(page.locator('#blame > .table table'))];
	const out = {busy: await shown(), nested: await rows(page.locator('#blame .nested table'))};
	await page.locator('#blame select').first().selectOption({label: 'all'});
	out.all = await shown();
	await page.locator('#blame select').first().selectOption({label: 'without idle ones'});
	return out;
}

const arrows = (page, graph) => page.locator(`#graph-${graph} .arrow`).evaluateAll(list => list.map(one => one.getAttribute('aria-label')));
const heats = page => rows(page.locator('.heats')).then(list => list.map(row => row.filter(Boolean)));
const sourceFigures = page => page.locator('.lines tr.site').evaluateAll(list => list.map(row => [...row.children].slice(0, 3).map(cell => cell.innerText)));

async function views(page, range) {
	const out = {};
	await inSight(page, 'summary', range);
	out.findings = await page.locator('.findings .sentence').allInnerTexts();
	out.tiles = await page.locator('.tile dd').evaluateAll(list => list.map(one => one.firstChild.textContent));
	out.leading = await page.locator('.leading:visible > span').allInnerTexts();
	await inSight(page, 'timeline', range);
	out.sight = await page.locator('canvas.lanes').evaluate(({dataset}) => [dataset.fromNs, dataset.toNs].map(ns => Math.round(ns)));
	await inSight(page, 'blame', range);
	out.blame = await blameOf(page);
	out.blameNote = await page.locator('#blame > .lead').allInnerTexts();
	await inSight(page, 'path', range);
	out.path = await pathOf(page);
	await inSight(page, 'tables', range);
	Object.assign(out, await tables(page));
	await inSight(page, 'flame', range);
	out.flames = [await flame(page, 'Calls'), await flame(page, 'Time off CPU'), await flame(page, 'CPU time, sampled'),
		await flame(page, 'On-CPU and off-CPU')];
	await inSight(page, 'graphs', range);
	out.waits = await arrows(page, 'waits');
	out.switches = await arrows(page, 'switches');
	await inSight(page, 'distribution', range);
	out.heats = await heats(page);
	await inSight(page, 'sources', range);
	out.source = await sourceFigures(page);
	return out;
}

const PATH = {
	calls: [['(before the first call)', '1.75 ms', '43.8 %', '1.00 ms', '500 us', '0', '0', '250 us', 'its begin'],
		['take', '1.50 ms', '37.5 %', '900 us', '0', '600 us', '0', '0', 'pthread_mutex_lock at take (known.c:12)'],
		['main', '750 us', '18.8 %', '750 us', '0', '0', '0', '0', 'sem_wait at main (known.c:20)']],
	functions: [['take', '2.00 ms', '50.0 %', '1.40 ms', '0', '600 us', '0', '0', '2.00 ms'],
		['main', '1.00 ms', '25.0 %', '1.00 ms', '0', '0', '0', '0', '4.00 ms'], [HOSTILE, '1.00 ms', '25.0 %', '250 us', '500 us', '0', '0', '250 us', '1.00 ms']],
	threads: [['worker-1', '101', '1.50 ms', '37.5 %', '900 us', '0', '600 us', '0', '0', '0', '0'],
		[HOSTILE, '102', '1.50 ms', '37.5 %', '750 us', '500 us', '0', '0', '0', '0', '250 us'],
		['main', '100', '1.00 ms', '25.0 %', '1.00 ms', '0', '0', '0', '0', '0', '0']],
	objects: [['queue', '800 us', '20.0 %', '1', '400 us'], ['done', '–', '–', '1', '3.00 ms'], [HOSTILE, '–', '–', '1', '0']],
	segments: [['0.000500 s', 'worker-1', '1.50 ms', '900 us', '0', '600 us', '0', '0', 'pthread_mutex_lock', 'take (known.c:12)', 'read at take (known.c:12)', 'queue', HOSTILE],
		['0.002000 s', HOSTILE, '1.50 ms', '750 us', '500 us', '0', '0', '250 us', '', '–', '', 'done', 'main'],
		['0.000000 s', 'main', '500 us', '500 us', '0', '0', '0', '0', '', '–', '', '', 'worker-1'],
		['0.003500 s', 'main', '500 us', '500 us', '0', '0', '0', '0', 'sem_wait', 'main (known.c:20)', '', '', '–']],
	status: '4.00 ms to the end of main (tid 100); all 4 segments.',
	notes: ['no returns'],
	segmentsDrawn: [['running'], ['running', 'blocked'], ['running', 'runnable', 'sleeping'], ['running']],
	passes: 3,
	lanes: ['worker-1', '<img src=x …&amp;</script>', 'main'],
};

const CAUSES = [['queue', 'holder', 'pthread_mutex_unlock', 'work (gone.c:5)', 'take (known.c:12)', '1.10 ms', '0', '4', '920 us', '180 us', '0', '0', '0', '0'],
	['queue', 'hand-over', '', '–', '–', '400 us', '0', '1', '0', '100 us', '300 us', '0', '0', '0']];
const NESTED = [['queue', 'work (gone.c:5)', 'done', 'caller', 'sem_post', '–', '–', '70.0 us'],
	['queue', 'work (gone.c:5)', 'unknown', 'unknown: the wait of the holder was not followed', '', '–', '–', '20.0 us']];
const BLAME = {
	nested: NESTED,
	busy: ['1.50 ms in total', '1.50 ms in total', ...CAUSES],
	all: ['4.50 ms in total', '4.50 ms in total', ...CAUSES, ['done', 'caller', 'sem_post', '–', '–', '3.00 ms', '3.00 ms', '1', '3.00 ms', '0', '0', '0', '0', '0']],
};
const LEAD = 'Each wait is charged to what caused it: the thread that held the object, the call that ended the wait, or the hand-over from then until the waiter ran. ' +
	'Choose a box in one graph, and the other shows only the waits that it caused or suffered.';

// Idle calls come last.
const IO = [['read', 'worker', 'take (known.c:12)', '3, 4', '700 us', '0', '300 us', '10'],
	['poll', 'main', '–', '5', '3.00 ms', '3.00 ms', '2.00 ms', '2']];

const WHOLE = {
	path: PATH,
	io: IO,
	findings: known().findings.map(({text}) => text),
	leading: [`the lock is held too long: work() holds queue, ${HOSTILE}`, 'queue\ntake (known.c:12)\nwork (gone.c:5)\nBlame'],
	blame: BLAME,
	blameNote: [LEAD, ''],
	tiles: ['4.00 ms', '3', '25.0 %', '0.0 %', '45.0 %', '5'],
	sight: [0, 4000000],
	objects: [['queue', 'mutex', '1.50 ms', '0', '375 us', '800 us', '4', '15', '1.60 ms', '700 us'],
		['done', 'semaphore', '3.00 ms', '3.00 ms', '3.00 ms', '3.00 ms', '1', '1', '–', '–']],
	meetings: [['main', HOSTILE, 'done', 'main (known.c:20)', 'unknown', '3.00 ms', '1'],
		['worker-1', HOSTILE, 'queue', 'take (known.c:12)', 'work (gone.c:5)', '1.10 ms', '3'],
		['worker-1', 'main', 'queue', 'take (known.c:12)', 'unknown', '400 us', '1']],
	longest: [['3.00 ms', '0.000500 s', 'main', 'sem_wait', 'done', 'main (known.c:20)', HOSTILE, 'unknown'],
		['800 us', '0.002000 s', 'worker-1', 'pthread_mutex_lock', 'queue', 'take (known.c:12)', HOSTILE, 'work (gone.c:5)'],
		['400 us', '0.001600 s', 'worker-1', 'pthread_mutex_lock', 'queue', 'take (known.c:12)', 'main', 'unknown'],
		['200 us', '0.000400 s', 'worker-1', 'pthread_mutex_lock', 'queue', 'take (known.c:12)', HOSTILE, 'work (gone.c:5)'],
		['100 us', '0.001400 s', 'worker-1', 'pthread_mutex_lock', 'queue', 'take (known.c:12)', HOSTILE, 'work (gone.c:5)']],
	operations: [['sem_wait', 'main', 'done', 'main (known.c:20)', '3.00 ms', '1', '1'],
		['pthread_mutex_lock', 'worker-1', 'queue', 'take (known.c:12)', '1.50 ms', '4', '15']],
	threads: [['main', '100', '1.00 ms', '0', '3.00 ms', '–', '0', '0'], ['worker-1', '101', '1.50 ms', '0', '1.50 ms', '–', '0', '0']],
	flames: ['18 calls in total', '3.50 ms in total', '2.00 ms in total', '5.50 ms in total'],
	waits: [`main → ${HOSTILE}: 3.00 ms`, `worker-1 → ${HOSTILE}: 1.10 ms`, 'worker-1 → main: 400 us'],
	switches: [`worker-1 → ${HOSTILE}: 7 switches`, `${HOSTILE} → worker-1: 5 switches`, `${HOSTILE} → other programs or idle: 1 switch`],
	heats: [['done', '1', '1'], ['queue', '4', '1', '1', '1', '1']],
	source: [['1.50 ms', '15 ×', '12'], ['3.00 ms', '1 ×', '20']],
};

// Bins 1 and 2: from 1 ms to 3 ms.
const PART = {
	io: IO,
	path: {
		...PATH,
		segments: PATH.segments.slice(0, 2),
		status: `${PATH.status} The lanes and the list of segments are of the selected time; all figures are of the whole run (gprof-mt report --time has those of a part).`,
		segmentsDrawn: PATH.segmentsDrawn.slice(1, 3),
		passes: 2,
	},
	findings: [`Threads waited 1.30 ms for queue, in 3 waits; the largest part, 900 us, was worker-1 at take (known.c:12), blocked by ${HOSTILE}.`],
	leading: [],
	blame: BLAME,
	blameNote: [LEAD, 'Always of the whole run: these figures have no times (gprof-mt report --time has those of a part).'],
	tiles: ['2.00 ms', '3', '11.7 %', '0.0 %', '55.0 %', '3'],
	sight: [1000000, 3000000],
	objects: [['queue', 'mutex', '1.30 ms', '0', '433 us', '800 us', '3', '10', '1.30 ms', '700 us']],
	meetings: [['worker-1', HOSTILE, 'queue', 'take (known.c:12)', 'work (gone.c:5)', '900 us', '2'],
		['worker-1', 'main', 'queue', 'take (known.c:12)', 'unknown', '400 us', '1']],
	longest: WHOLE.longest.slice(1, 3).concat(WHOLE.longest.slice(4)),
	operations: [['pthread_mutex_lock', 'worker-1', 'queue', 'take (known.c:12)', '1.30 ms', '3', '10']],
	threads: [['main', '100', '0', '0', '2.00 ms', '–', '0', '0'], ['worker-1', '101', '700 us', '0', '1.30 ms', '–', '0', '0']],
	flames: ['18 calls in total', '500 us in total', '700 us in total', '1.20 ms in total'],
	waits: [`worker-1 → ${HOSTILE}: 900 us`, 'worker-1 → main: 400 us'],
	switches: [`${HOSTILE} → worker-1: 5 switches`, `worker-1 → ${HOSTILE}: 4 switches`, `${HOSTILE} → other programs or idle: 1 switch`],
	heats: [['queue', '3', '1', '1', '1']],
	source: [['1.30 ms', '10 ×', '12'], ['', '', '20']],
};

await withBrowser(async open => {
	const page = await open(written('known', encode(known())));
	const whole = await views(page, '0-4');
	for (const name of Object.keys(WHOLE))
		same(whole[name], WHOLE[name], `whole run: ${name}`);
	const spread = page.locator('#distribution .status');
	same(await spread.innerText(), 'done: 1 wait of 2.10 ms to 4.19 ms.', 'how long one wait takes');
	await page.locator('#distribution').getByRole('button', {name: 'queue'}).click();
	same(await spread.innerText(), 'queue: 4 waits, at least 50 % of them shorter than 262 us, at least 90 % shorter than 1.05 ms.',
		'how long four take');

	await toTop(page);
	await page.locator('#range-from').press('ArrowRight');
	await page.locator('#range-to').press('ArrowLeft');
	same(await page.locator('#range-text').innerText(), '0.001 s – 0.003 s (50.0 %)', 'the range in words');
	const part = await views(page, '1-3');
	for (const name of Object.keys(PART))
		same(part[name], PART[name], `bins 1 and 2: ${name}`);
	await page.locator('#flame select').first().selectOption({label: 'Calls'});
	same(await page.locator('#flame .lead').innerText(), 'Always of the whole run: these figures have no times.',
		'calls without a time say so');

	await toTop(page);
	await page.locator('#range-whole').click();
	await inSight(page, 'tables', '0-4');
	same(await tableOf(page, 'objects'), WHOLE.objects, 'the whole run again');
	same(await page.locator('#page img, #page script').count(), 0, 'names of the program are text');
	same(page.sins, [], 'no error, no dialog, no request');

	// A capture without waits has no cause.
	const none = known();
	none.blame.cause = null;
	same(await (await open(written('none', encode(none)))).locator('.leading').count(), 0, 'no cause');

	// Two objects with the same name are one finding.
	const twins = known();
	Object.assign(twins.objects[0], {name: 'done', address: '0x1020'});
	twins.objects[1].address = '0x1040';
	twins.findings[1].site = twins.findings[0].site;
	const alike = await open(written('alike', encode(twins)));
	await inSight(alike, 'summary', '0-4');
	same(await alike.locator('.findings > li').allInnerTexts(),
		['main waited 3.00 ms for done, until worker-2 posted it.\ndone 0x1040\nmain\nmain (known.c:20)\nOthers with that name:\n0x1020 1.50 ms'],
		'objects of one name: one finding');
	// Waiting for a thread's end is the purpose of a join: the lengths shown first are those of
	// other waits.
	const joined = known();
	joined.objects[1].type = 'thread';
	const join = await open(written('join', encode(joined)));
	await inSight(join, 'distribution', '0-4');
	same((await join.locator('#distribution .status').innerText()).split(':')[0], 'queue', 'no join first');

	// A page of a part of the capture (export --time): its times are the capture's.
	const later = await open(written('later', encode({...known(), from_ns: 2e9})));
	await later.locator('#range-from').press('ArrowRight');
	same(await later.locator('#range-text').innerText(), '2.001 s – 2.004 s (75.0 %)', 'from_ns: the range');
	await inSight(later, 'tables', '1-4');
	same((await tableOf(later, 'longest')).map(row => row[1]), ['2.000500 s', '2.002000 s', '2.001600 s', '2.001400 s'], 'from_ns: when waits began');
});
