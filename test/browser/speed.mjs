// Measures how long a person waits for the web app, for bench/screens: node speed.mjs ADDRESS EMAIL PASSWORD ROUNDS.
// What it prints is JSON: what was measured, its goal, and the milliseconds of each round.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const [address, email, password, rounds] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const desk = { viewport: { width: 1440, height: 900 }, locale: "en-GB" };
const samples = new Map();
const note = (what, goal, ms) => {
  if (!samples.has(what)) samples.set(what, { what, goal, times: [] });
  samples.get(what).times.push(ms);
};
const times = async (n, f) => {
  for (let i = 0; i < n; i++) await f(i);
};

let context = await browser.newContext(desk);
let page = await context.newPage();
await page.goto(address + "/");
await page.getByLabel("Email").fill(email);
await page.getByLabel("Password").fill(password);
await page.keyboard.press("Enter");
await page.locator("main h1").waitFor();
const who = await context.storageState();
await context.close();

// A row or a figure that a person can use, not the bones that stand in for it.
const usable = {
  "/": "main svg a, main [data-ready]",
  "/review": "main [data-key]",
  "/transactions": "main [data-index] a",
};
const goals = { "/": 1000, "/review": 1000, "/transactions": 1000 };
const others = ["/accounts", "/cash-flow", "/activity", "/rules", "/import", "/review/links", "/agents/assistants", "/reports", "/settings/categories", "/settings/members", "/settings"];

// With an empty cache, from the address to the first thing that can be used.
for (const [path, first] of Object.entries(usable))
  await times(+rounds, async () => {
    context = await browser.newContext({ ...desk, storageState: who });
    page = await context.newPage();
    const from = performance.now();
    await page.goto(address + path, { waitUntil: "commit" });
    await page.locator(first).first().waitFor();
    note(`cold: ${path}`, goals[path], performance.now() - from);
    await page.waitForLoadState("networkidle");
    note(`cold, until nothing is asked for: ${path}`, 0, performance.now() - from);
    await context.close();
  });

context = await browser.newContext({ ...desk, storageState: who });
page = await context.newPage();
page.setDefaultTimeout(60_000);

// Every other screen, in a browser that has the app already.
for (const path of others) {
  const from = performance.now();
  const answer = await page.goto(address + path);
  if (answer?.status() !== 200) continue;
  await page.locator("main h1").waitFor();
  await page.waitForLoadState("networkidle");
  note(`until nothing is asked for: ${path}`, 2500, performance.now() - from);
}

await page.goto(address + "/transactions");
await page.locator(usable["/transactions"]).first().waitFor();
await page.waitForLoadState("networkidle");

// Anywhere in the list: from the jump to rows, none of them bones.
await times(+rounds * 2, async (i) => {
  const ms = await page.evaluate(async (share) => {
    const root = document.scrollingElement;
    const from = performance.now();
    root.scrollTop = root.scrollHeight * share;
    for (;;) {
      await new Promise(requestAnimationFrame);
      const seen = [...document.querySelectorAll("main [data-index]")].filter((e) => {
        const b = e.getBoundingClientRect();
        return b.bottom > 0 && b.top < innerHeight;
      });
      if (seen.length > 5 && !document.querySelector("main [role=row][aria-busy]")) return performance.now() - from;
      if (performance.now() - from > 20_000) return 20_000;
    }
  }, ((i * 0.37 + 0.11) % 0.9) + 0.05);
  note("jump anywhere in the list", 200, ms);
  await page.waitForTimeout(300);
});

// Reading speed: 30 pixels a frame, with what the main thread works for each. The browser's own figures count the
// time in which others had the core; the kernel's do not.
const system = await browser.newBrowserCDPSession();
const ran = (pid) => Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
const renderers = (await system.send("SystemInfo.getProcessInfo")).processInfo.filter((p) => p.type === "renderer");
const busiest = renderers.map((p) => p.id).sort((a, b) => ran(b) - ran(a))[0];
const worked = () => ran(busiest);
await page.evaluate(() => scrollTo(0, 0));
await page.waitForTimeout(500);
await times(+rounds, async () => {
  const before = worked();
  await page.evaluate(async () => {
    for (let i = 0; i < 120; i++) {
      scrollBy(0, 30);
      await new Promise(requestAnimationFrame);
    }
  });
  note("main thread a frame, scrolling to read", 10, (worked() - before) / 120);
});

// From the last key of a search to its rows.
await page.evaluate(() => scrollTo(0, 0));
await times(+rounds, async (i) => {
  const word = ["rewe", "aldi", "lidl", "bahn", "miete"][i % 5];
  const field = page.getByRole("searchbox").first();
  await field.fill("");
  await page.waitForTimeout(800);
  await field.pressSequentially(word.slice(0, -1), { delay: 30 });
  const done = page.waitForResponse((r) => r.url().includes("/api/v1/transactions") && decodeURIComponent(r.url()).includes(`search=${word}`));
  const from = performance.now();
  await field.press(word.slice(-1));
  await done;
  await page.locator("main [role=table]:not([aria-busy])").locator("[data-index] a, h2").first().waitFor();
  note("search, from the last key", 350, performance.now() - from);
  await page.waitForLoadState("networkidle");
});

// Agreeing to a payee by one key, until the server has confirmed it.
await page.goto(address + "/review");
await page.locator(usable["/review"]).first().waitFor();
await page.waitForLoadState("networkidle");
await times(+rounds, async () => {
  const done = page.waitForResponse((r) => r.request().method() === "POST" && r.url().includes("/api/v1/transactions/"));
  const from = performance.now();
  await page.keyboard.press("a");
  await done;
  note("filing a payee, until it is confirmed", 250, performance.now() - from);
  await page.waitForLoadState("networkidle");
});

process.stdout.write(JSON.stringify([...samples.values()]));
await browser.close();
