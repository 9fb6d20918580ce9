// SPDX-License-Identifier: MIT
//
// check_real.mjs PAGE REPORT: the page of a real capture agrees with the report of this capture, in
// JSON.
import {readFileSync} from 'node:fs';
import {count, duration, percent} from '../../postproc/export/html/page/src/format.js';
import {AXIS, GUTTER, ROW} from '../../postproc/export/html/page/src/layout.js';
import {holds, inSight, rows, same, withBrowser} from './browser.mjs';

const [file, reportFile] = process.argv.slice(2);
const report = JSON.parse(readFileSync(reportFile, 'utf8'));
const sorted = list => list.map(row => row.join(' | ')).sort();

async function tableOf(page, tab, view = 'tables') {
	await page.getByRole('tab', {name: tab, exact: true}).click();
	const panel = page.locator(`#${view} [role=tabpanel]:visible`);
	const more = panel.locator('.table > button');
	if (await more.isVisible())
		await more.click();
	return rows(panel.locator('table'));
}

// Points at the middle of the longest wait, in the waiter's lane, without zooming.
async function checkHover(page, [wait, began, thread, , object]) {
	await page.locator('#timeline select').selectOption('thread');
	await page.getByRole('searchbox', {name: 'Lanes by name'}).fill(thread);
	await page.locator('canvas.lanes[data-lanes="1"]').waitFor();
	const box = await page.locator('canvas.lanes').boundingBox();
	const endNs = Number(await page.locator('canvas.lanes').getAttribute('data-to-ns'));
	const {wait_max_ns: longestNs} = report.locks.reduce((most, row) => row.wait_max_ns > most.wait_max_ns ? row : most);
	const middleNs = parseFloat(began) * 1e9 + longestNs / 2;
	same(duration(longestNs), wait, 'the longest wait is the longest of the report');
	await page.mouse.move(box.x + GUTTER + (box.width - GUTTER) * middleNs / endNs, box.y + AXIS + ROW / 2);
	const tip = Object.fromEntries(await page.locator('.tip .pair').evaluateAll(list => list.map(line => [...line.children].map(part => part.textContent))));
	holds(tip.Blocked.split(', ').includes(thread) && tip.Object.includes(object) && tip.Wait.startsWith(wait), `hover on it: ${JSON.stringify(tip)}`);
}

await withBrowser(async open => {
	const page = await open(file);
	const bins = (await page.locator('#range-to').getAttribute('aria-valuemax'));
	const whole = `0-${bins}`;
	await inSight(page, 'tables', whole);

	const objects = await tableOf(page, 'Objects');
	same(sorted(objects.map(row => [row[1], row[2], row[5], row[6], row[7]])),
		sorted(report.locks.map(row => [row.type, duration(row.wait_ns), duration(row.wait_max_ns), count(row.contended), count(row.acquired)])),
		'objects: type, wait, longest wait, contended, acquired');
	const joins = report.locks.filter(({type}) => type === 'thread');
	same(sorted(objects.filter(row => row[1] === 'thread').map(row => [row[2], row[3]])),
		sorted(joins.map(row => [duration(row.wait_ns), duration(row.idle_ns)])), 'joins: wait, idle');
	const threads = await tableOf(page, 'Threads');
	same(sorted(threads.map(row => [row[1], row[2], row[3], row[4]])),
		sorted(report.threads.map(row => [row.tid, duration(row.running_ns), duration(row.runnable_ns), duration(row.blocked_sync_ns)])),
		'threads: running, runnable, blocked');
	same((await page.locator('.tile dd').nth(1).evaluate(node => node.firstChild.textContent)), count(report.threads.length), 'as many threads');
	await inSight(page, 'blame', whole);
	await page.locator('#blame select').first().selectOption({label: 'all'});
	const waitNs = report.locks.reduce((sum, row) => sum + row.wait_ns, 0);
	same(await page.locator('#blame .half .status').allInnerTexts(), [`${duration(waitNs)} in total`, `${duration(waitNs)} in total`], 'blame: all waits');
	await inSight(page, 'path', whole);
	const onPath = await tableOf(page, 'By thread', 'path');
	same(sorted(onPath.map(row => row.slice(1, 6))), sorted(report.critical_threads.map(row =>
		[row.tid, duration(row.path_ns), percent(row.path_pct, 100), duration(row.running_ns), duration(row.runnable_ns)])), 'threads on the critical path');
	const lastCalls = await tableOf(page, 'By last call', 'path');
	same(sorted(lastCalls.map(row => [row[0], row[1], row[2], row[5]])), sorted(report.critical_sites.map(row =>
		[row.function, duration(row.path_ns), percent(row.path_pct, 100), duration(row.blocked_ns)])), 'the critical path by last call');
	same(await page.locator('svg.path g').count(), report.critical_stretches.length, 'segments of the critical path');
	await inSight(page, 'tables', whole);
	const [longest] = await tableOf(page, 'Longest waits');

	for (const id of ['timeline', 'blame', 'path', 'flame', 'graphs', 'distribution', 'sources'])
		await inSight(page, id, whole);
	holds(await page.locator('#flame .box').count() > 0, 'a flame graph');
	holds(await page.locator('#graph-waits .arrow').count() > 0, 'a wait graph');
	holds(await page.locator('.bars .bar').count() > 0, 'a distribution');
	holds((await page.locator('.source').innerText()).includes('Wait(first)'), 'the source, at the caller of a wrapper');
	same(await page.getByText('This part could not be drawn').count(), 0, 'no view failed');
	await checkHover(page, longest);

	await page.locator('#range-from').press('End');
	const last = `${bins - 1}-${bins}`;
	for (const id of ['summary', 'timeline', 'blame', 'path', 'tables', 'flame', 'graphs', 'distribution', 'sources', 'missing'])
		await inSight(page, id, last);
	holds(true, 'every view of the last part of the time');
	same(page.sins, [], 'no error, no dialog, no request');
});
