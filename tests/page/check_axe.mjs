// SPDX-License-Identifier: MIT
//
// check_axe.mjs PAGE: axe-core, which checks the rules of WCAG, finds no violation: in the page of
// the hand-written capture, of a real one, of hand-written campaigns, and without any; for all and
// part of the time, light and dark, with all details open.
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {encode} from './fill.mjs';
import {knownCampaign, knownMerge} from './campaign_document.mjs';
import {empty, known} from './document.mjs';
import {inSight, same, toTop, withBrowser, written} from './browser.mjs';

const {source} = createRequire(join(process.env.GM_BUILD, 'tests/page/from.cjs'))('axe-core');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const VIEWS = ['summary', 'timeline', 'path', 'tables', 'flame', 'graphs', 'distribution', 'sources', 'missing'];
const [real] = process.argv.slice(2);

// The box clips the name in the flame graph; the full name is its label.
const RULES = [{id: 'label-content-name-mismatch', selector: ':not(.box)'}];

// One line for each element that violates a rule.
async function complaints(page, rules = {}) {
	if (!await page.evaluate(() => 'axe' in globalThis))
		await page.evaluate(source);
	const {violations} = await page.evaluate(([values, changed, without]) => {
		globalThis.axe.configure({rules: changed});
		return globalThis.axe.run(document, {runOnly: {type: 'tag', values}, rules: without, resultTypes: ['violations']});
	}, [TAGS, RULES, rules]);
	return violations.flatMap(({id, nodes}) => nodes.map(({target, any, all, none}) =>
		`${id}: ${target.join(' ')}: ${[...any, ...all, ...none].map(({message}) => message).join('; ')}`));
}

async function showAll(page, range) {
	for (const id of VIEWS)
		await inSight(page, id, range);
	await page.locator('details').evaluateAll(list => list.forEach(node => node.open = true));
}

const binsOf = async page => Number(await page.locator('#range-to').getAttribute('aria-valuemax'));

async function checkViews(page, what) {
	const bins = await binsOf(page);
	await showAll(page, `0-${bins}`);
	await toTop(page);
	same(await complaints(page), [], `${what}: the whole run`);
	await page.locator('#range-from').press('ArrowRight');
	await showAll(page, `1-${bins}`);
	await toTop(page);
	same(await complaints(page), [], `${what}: a part of the time`);
}

async function checkTouched(page, what) {
	await inSight(page, 'timeline', `1-${await binsOf(page)}`);
	await page.locator('canvas.lanes').hover({position: {x: 250, y: 60}});
	same([await page.locator('.tip').isVisible(), await complaints(page, {'target-size': {enabled: false}})], [true, []], `${what}: a tip`);
	await page.locator('.flame .box').first().click();
	await page.getByRole('searchbox', {name: 'Function', exact: true}).fill('a');
	await page.getByRole('searchbox', {name: 'Search: Objects'}).fill('no such thing');
	await toTop(page);
	same(await complaints(page), [], `${what}: searched`);
	for (const tab of await page.getByRole('tab').all()) {
		await tab.click();
		await toTop(page);
		same(await complaints(page), [], `${what}: ${await tab.innerText()}`);
	}
}

const file = written('axe', encode(known()));
const PHONE = {viewport: {width: 390, height: 844}};
for (const [theme, options] of [['light', {}], ['dark', PHONE]])
	await withBrowser(async open => {
		const page = await open(file);
		await checkViews(page, theme);
		await checkTouched(page, theme);
		await checkViews(await open(real, options), `${theme}, a real run`);
		for (const [name, text] of [['empty', encode(empty())], ['none', ''], ['campaign', encode(knownCampaign())], ['merge', encode(knownMerge())]])
			same(await complaints(await open(written(name, text), options)), [], `${theme}, ${name}`);
	}, theme);
