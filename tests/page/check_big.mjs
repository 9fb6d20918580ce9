// SPDX-License-Identifier: MIT
//
// A large page: a million steps in its lanes, 50,000 waits. The number of drawn elements is limited
// by what is visible, and dragging over the lanes redraws only the lanes. Times are printed, not
// checked, since they depend on the machine.
import {big} from './big.mjs';
import {encode} from './fill.mjs';
import {holds, inSight, same, toTop, withBrowser, written} from './browser.mjs';

const MOST_NODES = 15000;
const VIEWS = ['summary', 'timeline', 'blame', 'path', 'tables', 'flame', 'graphs', 'distribution', 'sources', 'missing'];

await withBrowser(async open => {
	const begun = Date.now();
	const page = await open(written('big', encode(big({rows: 50000}))));
	console.log(`   ready after ${Date.now() - begun} ms`);
	for (const id of VIEWS)
		await inSight(page, id, '0-256');
	holds(await page.evaluate(() => document.querySelectorAll('*').length) < MOST_NODES, `fewer than ${MOST_NODES} elements`);
	same(await page.locator('canvas.lanes').getAttribute('data-lanes'), '128', 'all lanes are there');
	const {height, frame} = await page.locator('canvas.lanes').evaluate(canvas =>
		({height: canvas.clientHeight, frame: canvas.closest('.frame').clientHeight}));
	same(height, frame, 'the canvas is as high as what is in sight');

	await inSight(page, 'timeline', '0-256');
	const drawMs = await page.locator('canvas.lanes').evaluate(async canvas => {
		const times = [];
		for (let i = 0; i < 30; i++) {
			canvas.dispatchEvent(new KeyboardEvent('keydown', {key: i < 15 ? '+' : '-'}));
			await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
			times.push(Number(canvas.dataset.drawMs));
		}
		return times.sort((a, b) => a - b);
	});
	console.log(`   a frame takes ${drawMs[15]} ms, at most ${drawMs[29]} ms`);
	same(await page.locator('#timeline').getAttribute('data-range'), '0-256', 'zooming chooses nothing');

	await toTop(page);
	await page.locator('#range-from').press('PageUp');
	await inSight(page, 'summary', '16-256');
	same(await page.locator('#flame').getAttribute('data-range'), '0-256', 'what is out of sight waits');
	await inSight(page, 'flame', '16-256');
	same(await page.getByText('This part could not be drawn').count(), 0, 'no view failed');
	same(page.sins, [], 'no error, no dialog, no request');
});
