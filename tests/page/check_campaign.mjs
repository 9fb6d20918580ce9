// SPDX-License-Identifier: MIT
//
// The page of a hand-written campaign (campaign_document.mjs): the words, the order by each metric, links, plots, and
// the reader's actions. Damaged ones say so.
import {encode} from './fill.mjs';
import {HOSTILE} from './document.mjs';
import {knownCampaign, knownMerge} from './campaign_document.mjs';
import {drawn, holds, rows, same, withBrowser, written} from './browser.mjs';

const texts = locator => locator.evaluateAll(list => list.map(one => (one.innerText ?? one.textContent).trim().replace(/\s+/g, ' ')));

// The locks of both tables, with means and sigmas.
async function ranked(page) {
	const of = async name => await page.locator(`#ranking .${name}`).isVisible() ? (await rows(page.locator(`#ranking .${name} table`))).map(row => [row[0], row[2], row[3]]) : [];
	return {conclusive: await of('conclusive'), inconclusive: await of('inconclusive')};
}

const H = `${HOSTILE} (mutex)`, T = 'table (mutex)', L = 'list (mutex)';
const BY_METRIC = {
	APWT: {conclusive: [[T, '100 ms', '0']], inconclusive: [[L, '50.0 ms', '10.0 ms'], [H, '20.0 ms', '10.0 ms']]},
	CPWT: {conclusive: [], inconclusive: [[L, '50.0 ms', '10.0 ms'], [T, '20.0 ms', '10.0 ms']]},
	APLT: {conclusive: [[L, '300 ms', '0'], [T, '100 ms', '0']], inconclusive: [[H, '310 ms', '10.0 ms']]},
	mean: {conclusive: [], inconclusive: [[T, '60.0 ms', '5.00 ms'], [L, '50.0 ms', '10.0 ms'], [H, '10.0 ms', '5.00 ms']]},
};

async function checkWords(page) {
	same(await page.title(), 'known – gprof-mt', 'title');
	same(await texts(page.locator('.verdicts h3')), ['locked exposes a problem', 'free no problem found'], 'outcomes: those with a problem first');
	same(await texts(page.locator('.verdicts .sentence')), ['Workload 8 exposes a synchronization problem.', `Cause: table ${HOSTILE}.`,
		'Exhausted: no workload up to 8 exposes a synchronization problem.'], 'sentences');
	same(await texts(page.locator('#summary .general')), ['Not exercised: code that no test runs.'], 'sentences of no test');
	same(await texts(page.locator('nav a')), ['Summary', 'Critical sections', 'Workloads', 'Scalability', 'Runs'], 'parts');
}

async function checkRanking(page) {
	const select = page.getByLabel('Rank by');
	same(await select.inputValue(), 'apwt', 'the metric of the report');
	for (const [title, want] of Object.entries(BY_METRIC)) {
		await select.selectOption({label: title});
		same(await ranked(page), want, `ranked by ${title}`);
	}
	await select.focus();
	await page.keyboard.press('Home');
	same(await ranked(page), BY_METRIC.APWT, 'ranked by a key');
	const plots = page.locator('#ranking svg.spread');
	same(await plots.evaluateAll(list => list.map(one => one.getAttribute('aria-label'))), ['3 runs: 100 ms, 100 ms, 100 ms; mean 100 ms',
		'3 runs: 40.0 ms, 50.0 ms, 60.0 ms; mean 50.0 ms', '3 runs: 10.0 ms, 20.0 ms, 30.0 ms; mean 20.0 ms'], 'plots in words');
	// One scale from 0 to 100 ms over all plots.
	const dots = await plots.evaluateAll(list => list.map(one => [...one.querySelectorAll('circle')].map(dot => Number(dot.getAttribute('cx')))));
	const width = dots[0][0] - 6;
	same(dots.map(list => list.map(x => Math.round((x - 6) / width * 100))), [[100, 100, 100], [40, 50, 60], [10, 20, 30]], 'dots on a common scale');
}

async function checkLinks(page) {
	const hrefs = async locator => locator.evaluateAll(list => list.map(one => [one.innerText, one.getAttribute('href')]));
	const safe = HOSTILE.split('/').map(encodeURIComponent).join('/');
	same(await hrefs(page.locator('#runs .good a')), [['locked.w8.3', './locked.w8.3'], ['page', './locked.w8.3.html'], [HOSTILE.split('/').at(-1), `./../${safe}`]], 'links of runs');
	same(await hrefs(page.locator('#workloads a')), [['locked.w8.3', './locked.w8.3'], ['page', './locked.w8.3.html']], 'links of workloads');
	same(await hrefs(page.locator('#runs .bad a')), [['failed.5', './failed.5']], 'what a failed run printed');
	same(await rows(page.locator('#runs .bad table')), [['locked', 'plain', '8', '–', '–', `exit status 3 ${HOSTILE}`, 'failed.5']], 'a failed run, apart');
	same((await rows(page.locator('#runs .good table'))).map(row => [row[0], row[2], row[4], row[7], row[8], row[9], row[11]]),
		[['1', 'recorded', '8', '8.00 ms', '–', '3.00 ms', '3.0 MiB'], ['2', 'plain', '8', '8.00 ms', '50.0 %', '3.00 ms', '3.0 MiB'],
			['3', 'plain', '4', '4.00 ms', '50.0 %', '3.00 ms', '3.0 MiB'], ['4', 'recorded', '8', '8.00 ms', '–', '3.00 ms', '3.0 MiB']], 'runs with their resources');
}

// The pixel of a speedup, from the points of 1 and 2.
async function checkPlot(page) {
	const points = page.locator('.plot-frame .point');
	same(await points.evaluateAll(list => list.map(one => one.getAttribute('aria-label').split(', ').slice(0, 3).join(', '))),
		['1 thread, Speedup: 1.00, Efficiency: 100.0 %', '2 threads, Speedup: 1.50, Efficiency: 75.0 %', '4 threads, Speedup: 2.00, Efficiency: 50.0 %'], 'points in words');
	const y = await points.evaluateAll(list => list.map(one => [...one.querySelectorAll('circle')].map(dot => Number(dot.getAttribute('cy')))));
	const [, , one] = y[0], [, , two] = y[2];
	const speedup = at => 1 + (at - one) / (two - one);
	same(y.map(list => list.map(at => Math.round(speedup(at) * 100) / 100)), [[12 / 11, 12 / 13, 1], [1.5, 1.5, 1.5], [12 / 5, 12 / 7, 2]]
		.map(list => list.map(value => Math.round(value * 100) / 100)), 'a dot for each run, and the mean');
	same([await page.locator('.plot-frame .amdahl .band').count(), await page.locator('.plot-frame .universal').count(), await page.locator('.plot-frame .ideal').count()],
		[1, 0, 1], 'curves');
	same(await texts(page.locator('.series > .hint')), ['more threads take longer', '3 numbers cannot check the law'], 'notes on the laws');
	// The curve of the law goes through its speedups.
	const curve = await page.locator('.plot-frame .amdahl .curve').getAttribute('d');
	same(curve.match(/[ML][\d.]+ [\d.]+/g).map(point => Math.round(speedup(Number(point.split(' ')[1])) * 100) / 100), [1, 1.6, 2, 2.29], 'the curve of the law');
	await points.nth(1).focus();
	holds((await page.locator('.tip').innerText()).includes('1.50'), 'a point has a tip for the keyboard');
	await page.keyboard.press('Tab');
	holds((await page.locator('.tip').innerText()).includes('2.00'), 'the next point');
	await page.keyboard.press('Tab');
	holds(await page.locator('.tip').isHidden(), 'the tip goes with the focus');
}

async function checkTimes(page) {
	const words = await page.locator('.times-frame svg').getAttribute('aria-label');
	same(words.split('. ').slice(1), ['1: not known',
		'2: running 40.0 %, runnable, no CPU 45.0 %, blocked by table at insert 8.0 %, blocked by list at append 2.0 %, blocked otherwise (I/O, sleep) 5.0 %',
		'4: running 40.0 %, runnable, no CPU 20.0 %, blocked by table at insert 20.0 %, blocked by list at append 5.0 %, ' +
			'blocked on other objects (joins, idle waits) 5.0 %, blocked otherwise (I/O, sleep) 5.0 %, not known 5.0 %'], 'where the time goes, in words');
	const widths = await page.locator('.times-frame .base').evaluateAll(list => list.map(one => Number(one.getAttribute('width')) + 1));
	const whole = widths.slice(5).reduce((sum, width) => sum + width, 0);
	same(widths.map(width => Math.round(100 * width / whole)), [40, 45, 8, 2, 5, 40, 20, 20, 5, 5, 5, 5], 'widths of the parts');
	same(await texts(page.locator('.times-frame .none')), ['not known: no run could be recorded, or its capture lacks it'], 'a bar that is not known');
	await page.locator('.times-frame .part').nth(2).hover();
	holds(/blocked by table at insert[\s\S]*8.0 %[\s\S]*20.0 %/.test(await page.locator('.tip').innerText()), 'waits longer than the blocked time: both figures');
}

async function checkThemes(page) {
	const fill = () => page.locator('.times-frame .running .base').first().evaluate(node => getComputedStyle(node).fill);
	const before = await fill();
	await page.locator('#theme').click();
	await drawn(page);
	holds(await fill() !== before, 'the other theme has other colors');
	await page.setViewportSize({width: 400, height: 800});
	await page.waitForFunction(() => Number(document.querySelector('.plot-frame svg').getAttribute('viewBox').split(' ')[2]) < 400);
	/* Firefox's scroll bar takes a part of the 400 pixels. */
	same(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0,
		'a narrow page is not wider than the screen');
}

async function checkMerge(page) {
	same(await texts(page.locator('#summary .sentence')), ['Cause: table.'], 'merge: the cause');
	same(await ranked(page), BY_METRIC.APWT, 'merge: ranked');
	same((await rows(page.locator('#runs .bad table'))).map(row => row.slice(0, 2)), [['3', 'warm-up']], 'merge: a run that is left out');
	same(await texts(page.locator('nav a')), ['Summary', 'Critical sections', 'Runs'], 'merge: parts');
	same(page.sins, [], 'merge: no error, no dialog, no request');
}

const DAMAGED = 'There is nothing to show\n\nThe campaign in this page is damaged: ';
const CASES = [
	['no report', doc => delete doc.report, 'report is no object.'],
	['an unknown metric', doc => doc.metric = 'x', 'metric is unknown.'],
	['a mean that is text', doc => doc.report.sections[1].metrics[0].mean_ns = '5', 'sections[1].metrics[0].mean_ns is wrong.'],
	['rows that are no list', doc => doc.report.runs = {}, 'runs is no list.'],
	['a link that is a number', doc => doc.links[0].capture = 5, 'links[0].capture is wrong.'],
	['a link too few', doc => doc.links.pop(), 'links are not one for each run.'],
	['null for a row', doc => doc.report.steps[0] = null, 'steps[0] is wrong.'],
];

await withBrowser(async open => {
	const page = await open(written('campaign', encode(knownCampaign())));
	await checkWords(page);
	await checkRanking(page);
	await checkLinks(page);
	await checkPlot(page);
	await checkTimes(page);
	await checkThemes(page);
	same(await page.getByText('undefined').count() + await page.getByText('NaN').count() + await page.getByText('null').count(), 0, 'no missing value in words');
	same(page.sins, [], 'no error, no dialog, no request');
	await checkMerge(await open(written('merge', encode(knownMerge()))));

	const none = knownCampaign();
	Object.assign(none.report, {steps: [], sections: [], scalability: [], laws: [], curves: [], failures: [], runs: [], notes: []});
	none.links = [];
	const empty = await open(written('none', encode(none)));
	same(await texts(empty.locator('#ranking .nothing')), ['No workload exposes a problem, so no ranking was made.'], 'a campaign without runs');
	same(empty.sins, [], 'a campaign without runs: no error');

	for (const [name, change, message] of CASES) {
		const doc = knownCampaign();
		change(doc);
		const broken = await open(written('broken', encode(doc)));
		same(await broken.locator('[role=alert]').innerText(), DAMAGED + message, name);
		same(broken.sins, [], `${name}: no error`);
		await broken.context().close();
	}
});
