// SPDX-License-Identifier: MIT
//
// The page of `suggest --against` for the wrong fix of stock.c, in the browser that browser.mjs starts.
import {resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {holds, launched, same} from '../page/browser.mjs';

const texts = locator => locator.evaluateAll(list => list.map(one => one.innerText.trim().replace(/\s+/g, ' ')));

async function check(page) {
	same(await page.title(), 'Changes of locks', 'title');
	same(await texts(page.locator('h2')), ['Suggestions', 'Prediction and truth', 'Contention before and after', 'New conflicts', 'New cycles of locks'], 'parts');
	const cards = await texts(page.locator('h3'));
	holds(cards.length > 0 && cards[0].startsWith('1. stock_lock: split the lock'), `the first suggestion: ${cards}`);
	const marked = await texts(page.locator('pre .marked'));
	holds(marked.some(line => /^> \d+ pthread_mutex_lock\(&stock_lock\);$/.test(line)), `marked lines: ${marked}`);
	const cycles = await texts(page.locator('h2:has-text("New cycles") ~ .wide td'));
	holds(cycles.some(cell => cell === 'orders_lock, stock_lock'), `cycles: ${cycles}`);
	for (const width of [1280, 400]) {
		await page.setViewportSize({width, height: 800});
		const [all, shown] = await page.locator('html').evaluate(html => [html.scrollWidth, html.clientWidth]);
		holds(all <= shown, `as wide as the window of ${width} pixels: ${all}, ${shown}`);
	}
}

const browser = await launched();
try {
	const page = await browser.newPage(), url = pathToFileURL(resolve(process.argv[2])).href, sins = [];
	page.on('console', message => sins.push(`console: ${message.text()}`));
	page.on('pageerror', error => sins.push(`error: ${error.message}`));
	page.on('request', request => request.url() === url || sins.push(`request: ${request.url()}`));
	await page.goto(url);
	await check(page);
	same(sins, [], 'errors and requests');
} finally {
	await browser.close();
}
