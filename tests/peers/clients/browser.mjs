// node browser.mjs URL: Puppeteer opens a page in a browser that runs. Prints what it saw.
import { createRequire } from "node:module";

const puppeteer = createRequire(import.meta.url)("puppeteer-core");
const browser = await puppeteer.connect({ browserWSEndpoint: process.argv[2] });
const page = await browser.newPage();
await page.setContent(`<title>one</title><p>text</p><button onclick="document.title = 'two'">b</button>`);
const seen = [await page.title(), await page.$eval("p", (element) => element.textContent)];
await page.click("button");
seen.push(await page.title());
await page.evaluate(() => { throw new Error("wrong"); }).catch((error) => seen.push(error.message));
const session = await page.createCDPSession();
await session.send("No.such").catch((error) => seen.push(error.message));
await page.close();
await browser.disconnect();
console.log(JSON.stringify(seen));
