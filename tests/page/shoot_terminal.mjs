// SPDX-License-Identifier: MIT
//
// shoot_terminal.mjs SCREEN PICTURE: draws a terminal's screen, given as text with escape sequences
// for colors.
import {readFileSync, writeFileSync} from 'node:fs';
import {resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {launched} from './browser.mjs';

const COLOURS = ['#1c1f26', '#e06c75', '#8cc265', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#d7dae0'];
const [screen, picture] = process.argv.slice(2);

function escaped(text) {
	return text.replace(/[&<>]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;'})[c]);
}

/** The style after an escape sequence for colors. */
function styled(style, codes) {
	const next = {...style};
	for (const code of codes.split(';').map(Number)) {
		if (code === 0)
			Object.assign(next, {ink: 7, paper: 0, bold: false, reverse: false});
		else if (code === 1 || code === 22)
			next.bold = code === 1;
		else if (code === 7 || code === 27)
			next.reverse = code === 7;
		else if (code >= 30 && code <= 39)
			next.ink = code === 39 ? 7 : code - 30;
		else if (code >= 40 && code <= 49)
			next.paper = code === 49 ? 0 : code - 40;
	}
	return next;
}

function html(text) {
	let style = {ink: 7, paper: 0, bold: false, reverse: false};
	let out = '';
	for (const part of text.split(/(\x1b\[[\d;]*m|\x0e|\x0f)/)) {
		if (part.startsWith('\x1b')) {
			style = styled(style, part.slice(2, -1));
		} else if (part > '\x1f' || part.includes('\n')) {
			const [ink, paper] = style.reverse ? [style.paper, style.ink] : [style.ink, style.paper];
			out += `<span style="color:${COLOURS[ink]};background:${COLOURS[paper]}${style.bold ? ';font-weight:bold' : ''}">` +
				`${escaped(part)}</span>`;
		}
	}
	return `<!doctype html><meta charset="utf-8"><body style="margin:0;background:${COLOURS[0]}">` +
		`<pre style="margin:12px;font:14px/1.25 'DejaVu Sans Mono',monospace;display:inline-block">${out}</pre>`;
}

writeFileSync(`${screen}.html`, html(readFileSync(screen, 'utf8').trimEnd()));
const browser = await launched();
try {
	const page = await browser.newPage({viewport: {width: 1280, height: 900}});
	await page.goto(pathToFileURL(resolve(`${screen}.html`)).href);
	const box = await page.locator('pre').boundingBox();
	await page.screenshot({path: picture, clip: {x: 0, y: 0, width: Math.ceil(box.width) + 24, height: Math.ceil(box.height) + 24}});
} finally {
	await browser.close();
}
