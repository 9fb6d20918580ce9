// SPDX-License-Identifier: MIT
//
// check_campaign_real.mjs PAGE REPORT: the page of a real campaign has the report in JSON of the same campaign, shows
// its figures, and its links lead to files.
import {existsSync, readFileSync} from 'node:fs';
import {dirname, resolve} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {duration} from '../../postproc/export/html/page/src/format.js';
import {holds, rows, same, withBrowser} from './browser.mjs';

const [file, reportFile] = process.argv.slice(2);
const report = JSON.parse(readFileSync(reportFile, 'utf8'));
const [, base64] = readFileSync(file, 'utf8').match(/id="gprof-mt-data">([^<]*)</);
const doc = JSON.parse(gunzipSync(Buffer.from(base64, 'base64')));
same(doc.report, report, 'the page has the figures of the report in JSON');

const percent = value => value === null ? '–' : `${value.toFixed(1)} %`;
const cells = list => list.map(row => row.join(' | ')).sort();
const isSweep = 'steps' in report;

// All rows of a table on the page: it shows the first ones only.
async function shown(page, place) {
	const more = page.locator(`${place} .table > button`);
	if (await more.isVisible())
		await more.click();
	return rows(page.locator(`${place} table`));
}

// The ranking by each metric is the table of the report: of the metric in `bottlenecks`, of the others in `sections`.
async function checkRanking(page, title, metric) {
	await page.getByLabel('Rank by').selectOption({label: title});
	for (const block of await page.locator('#ranking .block').all()) {
		const test = await block.getAttribute('data-test');
		for (const name of ['conclusive', 'inconclusive']) {
			const want = report.sections.filter(row => !isSweep || row.test === test).flatMap(row => row.metrics.filter(one => one.metric === metric)
				.map(one => ({...row, ...one}))).filter(one => one.conclusive === (name === 'conclusive')).sort((a, b) => b.mean_ns - a.mean_ns);
			const found = want.length > 0 ? await rows(block.locator(`.${name} table`)) : [];
			same(await block.locator(`.${name}`).isVisible(), want.length > 0, `${title}, ${test}: ${name}`);
			same(found.map(row => [...row.slice(0, 5), row[7]]), want.map(row => [`${row.lock} (${row.type})`, row.entry ?? 'unknown', duration(row.mean_ns),
				duration(row.sigma_ns), percent(row.sigma_pct), row.exit ?? 'unknown']), `${title}, ${test}: ${name}, in order`);
		}
	}
}

const fromReport = {conclusive: report.bottlenecks ?? [], inconclusive: report.inconclusive ?? []};

async function checkLinks(page) {
	const hrefs = await page.locator('#runs .good a, #runs .bad a, #workloads a').evaluateAll(list => list.map(one => one.getAttribute('href')));
	const dirs = report.runs.filter(row => row.dir !== null && existsSync(row.dir));
	holds(dirs.length > 1 && hrefs.length >= dirs.length, `links: ${hrefs.length}`);
	for (const href of hrefs)
		holds(existsSync(resolve(dirname(file), decodeURIComponent(href))), `there is ${href}`);
	const paths = hrefs.map(href => resolve(dirname(file), decodeURIComponent(href)));
	same(dirs.filter(({dir}) => !paths.includes(resolve(dir))), [], 'each capture has a link');
	same(dirs.filter(({dir}) => paths.includes(resolve(`${dir}.html`)) !== existsSync(`${dir}.html`)), [], 'the pages of runs have links');
}

async function checkSweep(page) {
	same(cells((await shown(page, '#workloads')).map(row => [row[0], row[1], row[6], row[7], row[8], row[9]])),
		cells(report.steps.map(row => [row.test, row.workload ?? '–', duration(row.wall_ns), duration(row.wall_sigma_ns), percent(row.cpu_use_pct), row.verdict])), 'workloads');
	const good = report.runs.filter(row => row.failure === null);
	same(cells((await shown(page, '#runs .good')).map(row => [row[0], row[1], row[2], row[7], row[8]])),
		cells(good.map(row => [row.run, row.test, row.kind, duration(row.wall_ns), percent(row.cpu_use_pct)])), 'runs that count');
	same(cells((await shown(page, '#runs .bad')).map(row => [row[0], row[5]])), cells(report.failures.map(row => [row.test, row.why])), 'failed runs');
	same(await page.locator('.plot-frame .point').count(), report.scalability.filter(row => row.speedup !== null).length, 'measured points');
	same(await page.locator('.plot-frame .single').count(), report.scalability.reduce((sum, row) => sum + row.by_run.length, 0), 'a dot for each run');
	same(await page.locator('.plot-frame .curve').count(), report.laws.length, 'a curve for each law');
	same(await page.locator('.times-frame text.number').count(), report.scalability.length, 'a bar for each number');
	const laws = (await Promise.all((await page.locator('[aria-label^="Laws fitted"] table').all()).map(rows))).flat();
	same(laws.map(row => row[1].split(' %')[0]), report.laws.map(row => row.serial_pct.toFixed(1)), 'laws');
}

await withBrowser(async open => {
	const page = await open(file);
	await page.locator('#runs').scrollIntoViewIfNeeded();
	for (const [title, metric] of [['CPWT', 'cpwt'], ['APLT', 'aplt'], ['mean', 'mean'], ['APWT', 'apwt']])
		await checkRanking(page, title, metric);
	for (const [name, list] of Object.entries(fromReport)) {
		const tables = await page.locator(`#ranking .${name}:visible table`).all();
		same(cells((await Promise.all(tables.map(rows))).flat().map(row => row.slice(2, 4))), cells(list.map(row => [duration(row.mean_ns), duration(row.sigma_ns)])), `the ranking of the report: ${name}`);
	}
	if (isSweep)
		await checkSweep(page);
	await checkLinks(page);
	same(page.sins, [], 'no error, no dialog, no request');
});
