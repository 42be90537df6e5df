// Opens reports in Chromium and checks what a person would: that it can be read, gone through by keys, and does no harm.
// Usage: node check.mjs <chromium> <directory for screenshots> <page.html>...
// What a page holds is told by its name: explained, merge, hostile, many.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [program, shots, ...files] = process.argv.slice(2);
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 360, height: 740 };

const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-gpu"] });

/** Opens a page, and gathers what goes wrong in it. */
const open = async (file, options) => {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  // A busy machine may take its time: only a page that never answers fails.
  context.setDefaultTimeout(600_000);
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error}`));
  page.on("dialog", (dialog) => { wrong.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  const url = pathToFileURL(file).href;
  page.on("request", (request) => { if (request.url() !== url) wrong.push(`request: ${request.url()}`); });
  if (options.javaScriptEnabled !== false) {
    await page.addInitScript(() => {
      window.__violations = [];
      document.addEventListener("securitypolicyviolation", (event) => window.__violations.push(`${event.violatedDirective} ${event.blockedURI}`));
    });
  }
  await page.goto(url);
  return { context, page, wrong };
};

/** Asks axe; of ten thousand rows it is asked only once. */
const accessible = async (page, what) => {
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  const complaints = result.violations.map((violation) => `${violation.id}: ${violation.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 200)} ${node.any.concat(node.all)[0]?.message ?? ""}`).join("\n  ")}`);
  assert.deepEqual(complaints, [], what);
};

const harmless = async (page, wrong, what) => {
  const found = await page.evaluate(() => ({
    pwned: typeof window.__pwned,
    violations: window.__violations,
    scripts: document.scripts.length,
    styles: document.querySelectorAll("style, link").length,
    foreign: [...document.querySelectorAll("iframe, img, object, embed, form, base, audio, video, foreignObject, animate, set, use, image")].map((it) => it.outerHTML.slice(0, 99)),
    handlers: [...document.querySelectorAll("*")].flatMap((it) => it.getAttributeNames().filter((name) => /^on|^style$|^src$/i.test(name))),
    links: [...document.querySelectorAll("[href]")].map((it) => it.getAttribute("href")).filter((href) => !/^#[\w-]+$/.test(href)),
  }));
  const expected = { pwned: "undefined", violations: [], scripts: 1, styles: 1, foreign: [], handlers: [], links: [] };
  assert.deepEqual(found, expected, what);
  assert.deepEqual(wrong, [], what);
};

const steps = async (page) => {
  const where = page.locator("#stepper [role=status]");
  const [, n] = (await where.textContent()).match(/^1 of (\d+)$/);
  assert.ok(Number(n) >= 3, `${n} steps`);
  const shown = () => page.locator("#stepper .step:visible");
  const at = async (number) => {
    assert.equal(await where.textContent(), `${number} of ${n}`);
    assert.equal(await shown().count(), 1);
    assert.equal(await shown().getAttribute("id"), `step-${number}`);
    assert.equal(await page.locator("#stepper [aria-current]").getAttribute("href"), `#step-${number}`);
  };
  await page.locator("#stepper").focus();
  for (const [key, number] of [["j", 2], ["ArrowRight", 3], ["k", 2], ["ArrowLeft", 1], ["k", 1], ["ArrowDown", 2], ["ArrowUp", 1], ["End", Number(n)], ["j", Number(n)], ["Home", 1]]) {
    await page.keyboard.press(key);
    await at(number);
  }
  await page.getByRole("button", { name: "Next" }).click();
  await at(2);
  await page.getByRole("button", { name: "Previous" }).click();
  await at(1);
  assert.ok(await page.getByRole("button", { name: "Previous" }).isDisabled());
  // Both values stand beside the source.
  assert.equal(await shown().locator(".source .here").count(), 1);
  const values = await shown().locator(".values tr.now td").allTextContents();
  assert.equal(values.length, 2);
  assert.notEqual(values[0], values[1]);
  // Keys elsewhere do nothing.
  await page.locator("#search").focus();
  await page.keyboard.press("j");
  await at(1);
  await page.locator("#search").fill("");
  // From a step to its line in the diff.
  const jump = shown().locator("a.jump");
  const target = await jump.getAttribute("href");
  const line = page.locator(target);
  await jump.click();
  await line.waitFor({ state: "visible" });
  assert.ok(await line.evaluate((it) => it === document.activeElement && it.classList.contains("mark")), target);
  // Another look at the same step leads there again.
  await page.locator(".overview a").first().click();
  await jump.click();
  await page.waitForFunction((id) => {
    const { top, bottom } = document.querySelector(id).getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  }, target);
};

/** The keys that move in every list. */
const keys = async (page) => {
  const line = page.locator("#keys");
  assert.ok(!(await line.isVisible()));
  await page.locator("#main").focus();
  await page.keyboard.press("?");
  assert.ok(await line.isVisible());
  await page.keyboard.press("?");
  assert.ok(!(await line.isVisible()));
  const lists = page.locator("[data-items]");
  let n_moved = 0;
  for (let nth = 0; nth < await lists.count(); nth++) {
    const list = lists.nth(nth);
    const selector = await list.getAttribute("data-items");
    if (selector === ".step" || !(await list.isVisible())) continue;
    const items = list.locator(selector).filter({ visible: true });
    const n = await items.count();
    if (n < 2) continue;
    n_moved += 1;
    const is = async (at) => assert.ok(await items.nth(at).evaluate((it) => it === document.activeElement), `${selector} ${nth}: item ${at} has the focus`);
    await items.first().evaluate((it) => { it.tabIndex = it.tabIndex < 0 ? -1 : it.tabIndex; it.focus(); });
    await page.keyboard.press("j");
    await is(1);
    await page.keyboard.press("k");
    await is(0);
    await page.keyboard.press("k");
    await is(0);
  }
  assert.ok(n_moved >= 5, `${n_moved} lists`);
  // Without a focus, the first list in view is meant. The keys can be turned off.
  await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
  await page.keyboard.press("j");
  const focused = () => page.evaluate(() => document.activeElement.closest("[data-items]") === [...document.querySelectorAll("[data-items]")][0]);
  assert.ok(await focused());
  await page.locator("[aria-controls=keys]").click();
  await page.getByRole("button", { name: "Turn off these keys" }).click();
  await page.keyboard.press("j");
  assert.ok(!(await focused()));
  await page.getByRole("button", { name: "Turn on these keys" }).click();
  await page.locator("[aria-controls=keys]").click();
};

const rows = async (page, name) => {
  const count = page.locator("#count");
  const shown = page.locator("#answers tbody tr");
  const before = Number((await count.textContent()).match(/\d+/)[0]);
  assert.equal(await shown.count(), Math.min(before, 200));
  const phases = await page.locator("#filter-phase option").allTextContents();
  await page.locator("#filter-phase").selectOption(phases[1]);
  await page.waitForFunction(() => /^\d+ of \d+ answers$/.test(document.querySelector("#count").textContent));
  for (const phase of await shown.locator("td:nth-child(2)").allTextContents()) assert.equal(phase, phases[1]);
  await page.locator("#filter-phase").selectOption("");
  await page.locator("#search").fill("nothing like this");
  await page.waitForFunction(() => /^0 of/.test(document.querySelector("#count").textContent));
  assert.equal(await shown.count(), 0);
  await page.locator("#search").fill("fail");
  await page.waitForFunction(() => !/^0 of/.test(document.querySelector("#count").textContent));
  assert.ok((await shown.count()) > 0);
  await page.locator("#search").fill("");
  await page.waitForFunction((before) => document.querySelector("#count").textContent === `${before} of ${before} answers`, before);
  if (name === "many") {
    assert.ok(before >= 10000, `${before} answers`);
    await page.locator("#more").click();
    assert.equal(await shown.count(), 400);
    // What only an output says is found, too.
    await page.locator("#search").fill("needle-4711");
    await page.waitForFunction(() => /^1 of/.test(document.querySelector("#count").textContent));
    await shown.locator("a").last().click();
    assert.match(await page.locator(":focus").evaluate((it) => it.parentElement.textContent), /needle-4711/);
  }
};

const history = async (page, name) => {
  const nodes = page.locator(".graph a");
  assert.ok((await nodes.count()) >= 2);
  await nodes.first().focus();
  const target = page.locator(await nodes.first().getAttribute("href"));
  assert.equal(await target.getAttribute("open"), null);
  await page.keyboard.press("Enter");
  await page.waitForFunction((id) => document.querySelector(id).open, await nodes.first().getAttribute("href"));
  assert.equal(await page.locator(".graph text.label", { hasText: "first bad" }).count(), 1);
  const lanes = await page.locator(".graph .hit").evaluateAll((all) => new Set(all.map((it) => it.getAttribute("cy"))).size);
  if (name === "merge") assert.ok(lanes >= 2, "a side branch has a lane");
};

const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

const check = async (file) => {
  const name = basename(file, ".html");
  const shot = (page, what, options) => page.screenshot({ path: join(shots, `${name}-${what}.png`), ...options });

  const light = await open(file, { colorScheme: "light" });
  if (name === "explained") {
    await keys(light.page);
    await steps(light.page);
  }
  await rows(light.page, name);
  await history(light.page, name);
  await harmless(light.page, light.wrong, name);
  await light.page.evaluate(() => scrollTo(0, 0));
  await shot(light.page, "light", { fullPage: name === "explained" });
  await accessible(light.page, `${name}, light`);
  const bright = await background(light.page);
  await light.page.locator("#theme").click();
  assert.notEqual(await background(light.page), bright, "the theme changes");
  await light.page.locator("#theme").click();
  assert.equal(await background(light.page), bright);
  assert.deepEqual(light.wrong, []);
  await light.context.close();

  const dark = await open(file, { colorScheme: "dark" });
  assert.notEqual(await background(dark.page), bright, "the system's theme is followed");
  // Everything that is closed is looked at, too.
  if (name !== "many") await dark.page.evaluate(() => document.querySelectorAll("details").forEach((it) => { it.open = true; }));
  await harmless(dark.page, dark.wrong, `${name}, dark`);
  await shot(dark.page, "dark");
  if (name !== "many") await accessible(dark.page, `${name}, dark`);
  assert.deepEqual(dark.wrong, []);
  await dark.context.close();

  const narrow = await open(file, { viewport: NARROW });
  assert.ok((await narrow.page.evaluate(() => document.documentElement.scrollWidth)) <= NARROW.width, `${name} fits into ${NARROW.width} pixels`);
  await harmless(narrow.page, narrow.wrong, `${name}, narrow`);
  await shot(narrow.page, "narrow");
  if (name !== "many") await accessible(narrow.page, `${name}, narrow`);
  assert.deepEqual(narrow.wrong, []);
  await narrow.context.close();

  const plain = await open(file, { javaScriptEnabled: false });
  if (name === "explained") {
    const all = plain.page.locator(".step");
    const n = await all.count();
    assert.ok(n >= 3);
    for (let step = 0; step < n; step++) assert.ok(await all.nth(step).isVisible(), "all steps can be read without a script");
  }
  if (name === "many") assert.ok((await plain.page.locator("#answers tbody tr").count()) >= 10000, "all rows are there without a script");
  else assert.ok(await plain.page.locator("#answers tbody tr").last().isVisible());
  await plain.page.locator(".revision > summary").first().click();
  assert.ok(await plain.page.locator(".revision > .inside").first().isVisible());
  assert.deepEqual(plain.wrong, []);
  await plain.context.close();
  console.log(`${name}: as it should be`);
};
await Promise.all(files.map(check));
await browser.close();
