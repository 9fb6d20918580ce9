// SPDX-License-Identifier: MIT
//
// check_wrappers.mjs PAGE LINE_A LINE_B: the waits for two locks are at the calls of the wrapper in these lines of
// two.c, in the tables and in the sources.
import {holds, inSight, same, withBrowser} from './browser.mjs';

const [file, lineA, lineB] = process.argv.slice(2);

await withBrowser(async open => {
	const page = await open(file);
	const whole = `0-${await page.locator('#range-to').getAttribute('aria-valuemax')}`;
	await inSight(page, 'tables', whole);
	for (const tab of ['Objects', 'Longest waits', 'Operations']) {
		await page.getByRole('tab', {name: tab, exact: true}).click();
		const text = await page.locator('#tables [role=tabpanel]:visible').innerText();
		holds(!text.includes('mutex_enter'), `${tab}: not the wrapper: ${text}`);
		if (tab === 'Longest waits')
			for (const site of [`use_a (two.c:${lineA})`, `use_b (two.c:${lineB})`])
				holds(text.includes(site), `${tab}: ${site}: ${text}`);
	}
	await inSight(page, 'sources', whole);
	const lines = await page.locator('.lines tr.site').allInnerTexts();
	for (const [use, lock] of [['A', 'a'], ['B', 'b']])
		holds(lines.some(line => line.includes(`mutex_enter(&${lock}); /* ${use} */`)), `the source of ${use}: ${lines}`);
	same(page.sins, [], 'no error, no dialog, no request');
});
