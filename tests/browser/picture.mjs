// Makes a picture of a report: the top of it, with a step of its chain.
// Usage: node picture.mjs <chromium> <page.html> <picture.png>
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [program, file, picture] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1080, height: 1085 }, colorScheme: "light", reducedMotion: "reduce" });
await page.goto(pathToFileURL(file).href);
await page.getByRole("button", { name: "Next" }).click();
await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
await page.mouse.move(0, 0);
await page.screenshot({ path: picture });
await browser.close();
