// SPDX-License-Identifier: MIT
//
// Pages without a capture, with a damaged, an empty, or a one-event capture: each reports it, and
// nothing else happens.
import {gzipSync} from 'node:zlib';
import {empty, known, oneEvent} from './document.mjs';
import {encode} from './fill.mjs';
import {holds, same, withBrowser, written} from './browser.mjs';

const changed = change => {
	const doc = known();
	change(doc);
	return encode(doc);
};
const packed = text => gzipSync(text).toString('base64');
const whole = encode(known());

const DAMAGED = 'The capture in this page is damaged: ';
const UNREADABLE = `${DAMAGED}it cannot be decoded. Was the file copied whole?`;
const OTHER = 'This page reads data of schema 1, and holds another: export the capture again.';
const NONE = 'There is no capture in this page: gprof-mt export --format html writes one that has.';

const CASES = [
	['no data', '', NONE],
	['the marker', '<!--gprof-mt-data-->', NONE],
	['no base64', '?? not base64 ??', UNREADABLE],
	['no gzip', Buffer.from('plain').toString('base64'), UNREADABLE],
	['cut short', whole.slice(0, whole.length / 8 * 4), UNREADABLE],
	['no JSON', packed('{"schema": 1'), UNREADABLE],
	['no object', packed('null'), OTHER],
	['another schema', changed(doc => doc.schema = 2), OTHER],
	['no members', packed('{"schema": 1}'), `${DAMAGED}program is no text.`],
	['a negative length', changed(doc => doc.end_ns = -1), `${DAMAGED}end_ns or from_ns is no time.`],
	['no bins', changed(doc => doc.bins = 0), `${DAMAGED}bins is out of range.`],
	['a bin beyond the end', changed(doc => doc.sums.waits.bin[0] = 4), `${DAMAGED}sums.waits.bin[0] is wrong.`],
	['a thread that is not there', changed(doc => doc.waits.thread[2] = 3), `${DAMAGED}waits.thread[2] is wrong.`],
	['a column too short', changed(doc => doc.waits.ns.pop()), `${DAMAGED}waits.ns has 4 values, not 5.`],
	['a number that is text', changed(doc => doc.sums.objects.wait[1] = '5'), `${DAMAGED}sums.objects.wait[1] is wrong.`],
	['a stack that calls itself', changed(doc => doc.stacks.parent[2] = 2), `${DAMAGED}stacks are no tree.`],
	['no blame', changed(doc => delete doc.blame), `${DAMAGED}blame.stacks.parent is no list.`],
	['a cause that is not there', changed(doc => doc.blame.holder[0] = 18), `${DAMAGED}blame.holder[0] is wrong.`],
	['a kind of cause that is no text', changed(doc => doc.blame.kind[1] = null), `${DAMAGED}blame.kind[1] is wrong.`],
	['a leading cause without a sentence', changed(doc => delete doc.blame.cause.text), `${DAMAGED}blame.cause is wrong.`],
	['a stack of blame that calls itself', changed(doc => doc.blame.stacks.parent[2] = 2), `${DAMAGED}blame.stacks are no tree.`],
	['a state that is not there', changed(doc => doc.lanes.threads[0].s[1] = 9), `${DAMAGED}lanes.threads[0] has a wrong step.`],
	['time that goes back', changed(doc => doc.lanes.threads[0].t[1] = 1e9), `${DAMAGED}lanes.threads[0] has a wrong step.`],
	['a cell beyond the end', changed(doc => doc.lanes.threads[2].c[7][0] = 16), `${DAMAGED}lanes.threads[2] has a wrong cell.`],
	['a lane too few', changed(doc => doc.lanes.objects.pop()), `${DAMAGED}lanes.objects is not one for each.`],
	['a site of no file', changed(doc => doc.sites[0].file = 2), `${DAMAGED}sites[0] is wrong.`],
	['null for a list', changed(doc => doc.flames = null), `${DAMAGED}flames is no list.`],
	['null for a table', changed(doc => doc.sums = null), `${DAMAGED}sums.threads has no n.`],
	['no critical path', changed(doc => delete doc.path), `${DAMAGED}path.threads has no n.`],
	['a part of the path too few', changed(doc => delete doc.path.segments), `${DAMAGED}path.segments has no n.`],
	['a thread of the path that is not there', changed(doc => doc.path.segments.to[0] = 3), `${DAMAGED}path.segments.to[0] is wrong.`],
	['a segment before the start', changed(doc => doc.path.segments.start[0] = -1), `${DAMAGED}path.segments.start[0] is wrong.`],
	['a name that is a number', changed(doc => doc.path.calls.name[1] = 5), `${DAMAGED}path.calls.name[1] is wrong.`],
	['a note that is no text', changed(doc => doc.path.threads.notes[0] = null), `${DAMAGED}path.threads.notes is wrong.`],
	['notes that are missing', changed(doc => delete doc.path.objects.notes), `${DAMAGED}path.objects.notes is no list.`],
	['null for a thread', changed(doc => doc.threads[1] = null), `${DAMAGED}threads[1] is wrong.`],
];

async function showAll(page) {
	for (const node of await page.locator('section').all())
		await node.scrollIntoViewIfNeeded();
	const drawn = await page.locator('section').evaluateAll(list => Promise.all(list.map(async node => {
		node.scrollIntoView();
		for (let frame = 0; !node.dataset.range && frame < 600; frame++)
			await new Promise(requestAnimationFrame);
		return node.dataset.range;
	})));
	same(new Set(drawn).size, 1, 'every view was drawn');
	same(await page.getByText('This part could not be drawn').count(), 0, 'no view failed');
}

await withBrowser(async open => {
	for (const [name, text, message] of CASES) {
		const page = await open(written('broken', text));
		same(await page.locator('[role=alert]').innerText(), `There is nothing to show\n\n${message}`, name);
		same(page.sins, [], `${name}: no error, no request`);
		await page.context().close();
	}

	const nothing = await open(written('empty', encode(empty())));
	same(await nothing.locator('.message h1').innerText(), 'This capture is empty', 'an empty capture says so');
	await showAll(nothing);
	same((await nothing.locator('section .nothing').allInnerTexts()).filter(text => text.startsWith('This capture has')).sort(), [
		'This capture has no calls and no samples.', 'This capture has no critical path: it has no threads.', 'This capture has no threads and no objects.',
		'This capture has no waits to blame anybody for.', 'This capture has no waits.', 'This capture has no waits.'], 'empty: views say so');
	same(await nothing.locator('.findings').innerText(), 'This capture has no waits.', 'empty: the summary says so');
	same(nothing.sins, [], 'empty: no error, no request');

	const one = await open(written('one', encode(oneEvent())));
	await showAll(one);
	same(await one.locator('#panel-objects tbody tr').allInnerTexts(), ['only\tmutex\t0\t0\t–\t0\t0\t1\t0\t0'], 'one event: its object');
	same(await one.locator('.findings').innerText(), 'This capture has no waits.', 'one event: no waits');
	await one.locator('canvas.lanes').focus();
	for (const key of ['ArrowDown', 'ArrowRight', 'ArrowLeft', '+', '-', '0', 'Enter', 'ArrowUp'])
		await one.keyboard.press(key);
	holds(await one.locator('.tip').isVisible(), 'one event: the cursor has words');
	same(one.sins, [], 'one event: no error, no request');
});
