// SPDX-License-Identifier: MIT
//
// shoot.mjs PAGE FOLDER: takes pictures of the top of the page, light and dark.
import {join} from 'node:path';
import {inSight, toTop, withBrowser} from './browser.mjs';

const [file, folder] = process.argv.slice(2);
const SIZE = {width: 1280, height: 1080};

await withBrowser(async open => {
	for (const colorScheme of ['light', 'dark']) {
		const page = await open(file, {viewport: SIZE, colorScheme});
		await inSight(page, 'timeline', `0-${await page.locator('#range-to').getAttribute('aria-valuemax')}`);
		// Host and time of the run are hidden in the pictures.
		await page.evaluate(() => {
			document.querySelectorAll('.facts span:nth-child(n + 3)').forEach(span => span.remove());
		});
		await toTop(page);
		await page.screenshot({path: join(folder, `page-${colorScheme}.png`)});
	}
});
