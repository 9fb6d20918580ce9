// SPDX-License-Identifier: MIT
//
// A headless browser. It collects what a page must never cause: an error, a message on the console,
// a dialog, a request outside the file.
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {fill} from './fill.mjs';

const {chromium, firefox} = createRequire(join(process.env.GM_BUILD, 'tests/page/from.cjs'))('playwright-core');
const CHROMIUM_FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
	'--disable-component-update', '--disable-sync'];

// Playwright gives up after 30 s, which a busy machine may need.
const LIMIT_MS = 300_000;

export const BUILT = process.env.GM_PAGE;

// Firefox cannot be given the preferred color scheme of a single page.
const firefoxPrefers = colorScheme => ({
	'layout.css.prefers-color-scheme.content-override': colorScheme === 'dark' ? 0 : 1, 'ui.prefersReducedMotion': 1});

/** Chromium, or Firefox where FIREFOX says which: Debian's, by WebDriver BiDi. The caller closes it. */
export function launched(colorScheme = 'light') {
	const {CHROMIUM = '/usr/bin/chromium', FIREFOX} = process.env;
	return FIREFOX ? firefox.launch({channel: 'moz-firefox', executablePath: FIREFOX, firefoxUserPrefs: firefoxPrefers(colorScheme), timeout: LIMIT_MS}) :
		chromium.launch({executablePath: CHROMIUM, args: CHROMIUM_FLAGS, timeout: LIMIT_MS});
}

/** Runs act(open); open(file, options) returns a loaded page, with its collected errors. */
export async function withBrowser(act, colorScheme = 'light') {
	const browser = await launched(colorScheme);
	try {
		await act(async (file, options = {}) => {
			const context = await browser.newContext({viewport: {width: 1280, height: 900}, reducedMotion: 'reduce', colorScheme, ...options});
			context.setDefaultTimeout(LIMIT_MS);
			const page = await context.newPage();
			const url = pathToFileURL(resolve(file)).href;
			page.sins = [];
			page.on('console', message => page.sins.push(`console: ${message.text()}`));
			page.on('pageerror', error => page.sins.push(`error: ${error.message}`));
			page.on('dialog', dialog => page.sins.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
			page.on('request', request => request.url() === url || request.url().startsWith('data:') || page.sins.push(`request: ${request.url()}`));
			page.on('websocket', socket => page.sins.push(`socket: ${socket.url()}`));
			await page.goto(url);
			await page.locator('#page[data-ready]').waitFor({state: 'attached'});
			return page;
		});
	} finally {
		await browser.close();
	}
}

/** The page of a document, as a file in the current directory. */
export function written(name, text) {
	fill(BUILT, `${name}.html`, text);
	return `${name}.html`;
}

export function same(actual, expected, what) {
	assert.deepEqual(actual, expected, what);
	console.log(`ok ${what}`);
}

export function holds(value, what) {
	assert.ok(value, what);
	console.log(`ok ${what}`);
}

/** Waits until the requested state is drawn and reachable by the mouse. */
export const drawn = page => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));

export async function toTop(page) {
	await page.evaluate(() => scrollTo(0, 0));
	await drawn(page);
}

/** Scrolls to a view, and waits until it shows the range. */
export async function inSight(page, id, range) {
	await page.locator(`#${id}`).scrollIntoViewIfNeeded();
	await page.locator(`#${id}[data-range="${range}"]`).waitFor({state: 'attached'});
	await drawn(page);
}

/** The rows of a table, as text. */
export async function rows(table) {
	return table.locator('tbody tr').evaluateAll(list => list.map(row => [...row.children].map(cell => cell.innerText.trim())));
}
