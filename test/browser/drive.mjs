// Drives one Chromium for the tests beside it: a line of JSON in is a step, a line of JSON out is what the page was like after it.
// It knows no page of coffer's; what it holds against every page is in faults().
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const patience = 60_000; // the machine may be busy
const sizes = {
  phone: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, colorScheme: "dark" },
  desktop: { viewport: { width: 1280, height: 800 }, colorScheme: "light" },
  "phone light": { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: "light" },
  "desktop dark": { viewport: { width: 1440, height: 900 }, colorScheme: "dark" },
};

const browser = await chromium.launch({
  executablePath: process.argv[2],
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", ...(process.argv[3] ? ["--ignore-certificate-errors-spki-list=" + process.argv[3]] : [])],
});
let page, origins, heard, answered, strict;

// open begins with an empty profile: no cookies, nothing kept.
async function open({ size, allow, name }) {
  await page?.context().close();
  [origins, heard, answered, strict] = [allow, [], new Map(), name === "strict"]; // strict: no word on the console
  const context = await browser.newContext(sizes[size]);
  context.setDefaultTimeout(patience);
  page = await context.newPage();
  context.on("request", (r) => {
    if (!origins.includes(new URL(r.url()).origin)) heard.push("a request to " + r.url());
  });
  context.on("response", (r) => {
    if (r.request().isNavigationRequest()) answered.set(r.url(), r.status());
  });
  context.on("weberror", (e) => heard.push("a script failed: " + e.error().message));
  context.on("console", (m) => {
    const own = m.text().startsWith("Failed to load resource: the server responded") && answered.has(m.location().url); // an error page, whose status is looked at
    if ((strict || ["error", "warning"].includes(m.type())) && !own) heard.push(`console ${m.type()}: ${m.text()} (${m.location().url})`);
  });
  page.on("crash", () => heard.push("the page crashed"));
}

// authenticator is a device with passkeys that says yes.
async function authenticator() {
  await page.evaluate(settled);
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  });
}

const inside = (frame) => (frame ? page.frameLocator("iframe") : page);

const steps = {
  open, authenticator,
  visit: ({ url }) => page.goto(url),
  click: ({ name, frame }) => inside(frame).locator("button, a, summary, label").filter({ hasText: new RegExp("^\\s*" + name + "\\s*$"), visible: true }).first().click(),
  // Follows a link by the keyboard: the middle of a bent ribbon's box can lie beside the ribbon.
  follow: async ({ name }) => {
    await page.locator("a").filter({ hasText: new RegExp("^\\s*" + name), visible: true }).first().focus();
    await page.keyboard.press("Enter");
  },
  // Begins the first moment of a button anew, in which it must take no click.
  hasty: async ({ name }) => {
    const takes = await page.getByRole("button", { name, exact: true }).evaluate((b) => {
      b.style.animationName = "none";
      b.getBoundingClientRect();
      b.style.animationName = "";
      return getComputedStyle(b).pointerEvents;
    });
    if (takes !== "none") throw new Error(`${name} takes clicks in its first moment: ${takes}`);
  },
  fill: ({ name, value }) => page.getByLabel(name).and(page.locator("input, textarea, select")).filter({ visible: true }).first().fill(value),
  // The same by its whole label, where others begin alike.
  write: ({ name, value }) => page.getByLabel(name, { exact: true }).filter({ visible: true }).first().fill(value),
  tick: ({ name }) => page.getByRole("checkbox", { name }).filter({ visible: true }).first().check(),
  // A button by its whole name, also one that only screen readers know.
  press: ({ name }) => page.getByRole("button", { name, exact: true }).filter({ visible: true }).first().click(),
  // Chooses a file, or one of several values by its words.
  upload: ({ name, file }) => page.getByLabel(name).setInputFiles(file),
  choose: ({ name, value }) => page.getByLabel(name, { exact: true }).filter({ visible: true }).first().selectOption({ label: value }),
  // The line that is marked as the current one, and what a picker would take: read as text.
  current: async () => ({ text: (await page.locator("[data-current]").innerText({ timeout: 1000 }).catch(() => "")).trim() }),
  highlighted: async () => ({ text: (await page.locator("[data-highlighted]").first().innerText({ timeout: 1000 }).catch(() => "")).trim() }),
  moved: ({ text }) => page.waitForFunction((was) => document.querySelector("[data-current]")?.innerText.trim() !== was, text),
  // A finger on the current line.
  swipe: async ({ name }) => {
    const box = await page.locator("[data-current] [data-swipe]").boundingBox();
    const session = await page.context().newCDPSession(page);
    const [from, to] = name === "right" ? [60, 260] : [300, 100];
    const y = box.y + 20;
    await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x: from, y }] });
    for (let i = 1; i <= 10; i++) await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: [{ x: from + ((to - from) * i) / 10, y }] });
    await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    await session.detach();
  },
  enter: () => page.keyboard.press("Enter"),
  key: ({ name }) => page.keyboard.press(name),
  // Until nothing is asked for any more and nothing moves.
  idle: async () => {
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(50); // for what begins to move
    await page.waitForFunction(() => document.getAnimations().every((a) => a.playState !== "running" || a.effect.getComputedTiming().endTime === Infinity));
  },
  // Adds a fault of that kind, to see that it is found.
  plant: ({ name }) =>
    page.evaluate((kind) => {
      const e = document.createElement(kind === "policy" ? "style" : kind === "small" ? "button" : "div");
      e.textContent = kind === "policy" ? "b{}" : "planted";
      if (kind === "overflow") e.style.width = "3000px";
      if (kind === "small") Object.assign(e.style, { width: "20px", height: "10px", padding: 0, fontSize: "8px" });
      if (kind === "axe") e.setAttribute("aria-checked", "nonsense");
      if (kind === "console") console.info("planted");
      document.body.append(e);
    }, name),
  // Whatever on the screen would change something, by how its words begin.
  controls: async ({ text }) => {
    const found = await page.evaluate((form) => {
      const changes = new RegExp(form);
      const all = [...document.querySelectorAll("main :is(a, button), main textarea, main input[type=file]")];
      return all.filter((e) => e.checkVisibility()).map((e) => (e.innerText || e.ariaLabel || e.placeholder || "").trim()).filter((w) => changes.test(w));
    }, text);
    heard.push(...found.map((w) => "a control: " + w.slice(0, 40)));
  },
  axe, targets,
  // The server is not there, or answers each call of the API with that status; with neither, all is well again.
  network: async ({ name, text }) => {
    const context = page.context();
    await context.setOffline(name === "offline");
    await context.unroute("**/api/v1/**");
    if (Number(name)) {
      const error = { code: name === "429" ? "RATE_LIMITED" : "INTERNAL_ERROR", message: text };
      await context.route("**/api/v1/**", (r) => r.fulfill({ status: Number(name), json: { error }, headers: { "X-Request-Id": "req-for-the-log" } }));
    }
  },
  // Forgets what the browser said about calls that were meant to fail.
  forgive: () => { heard = heard.filter((h) => !h.includes("Failed to load resource")); },
  see: ({ text, frame }) => inside(frame).getByText(text).filter({ visible: true }).first().waitFor(),
  // The whole page, unless it is a list without end.
  shot: async ({ file }) => page.screenshot({ path: file, fullPage: (await page.evaluate(() => document.documentElement.scrollHeight)) < 5000 }),
  look: () => {},
  quit: () => browser.close(),
};

// settled ends what is on its way to another colour or place, so that the page is judged as it stays.
function settled() {
  for (const a of document.getAnimations()) if (a.effect?.getComputedTiming().endTime !== Infinity) a.finish();
}

// faults are what a person would trip over, measured in the page itself.
function faults() {
  const out = [];
  const root = document.documentElement;
  const shown = (e) => e.checkVisibility() && e.getBoundingClientRect().width > 0;
  const called = (e) => `<${e.localName}> ${(e.innerText || e.name || "").slice(0, 40)}`;
  if (!document.title) out.push("no title");
  if (!root.lang) out.push("no language");
  if (document.querySelectorAll("h1").length !== 1) out.push("not one h1");
  if (root.scrollWidth > root.clientWidth) out.push(`wider than the window: ${root.scrollWidth} of ${root.clientWidth}`);
  for (const e of document.querySelectorAll("button, .button, input, select, textarea, summary")) {
    if (!shown(e) || e.closest("nav, [aria-hidden=true]")) continue;
    const box = e.getBoundingClientRect();
    const field = e.matches("input, select, textarea");
    const small = e.matches("[type=radio], [type=checkbox]") ? e.closest("label")?.getBoundingClientRect() ?? box : box;
    if (small.height < 24) out.push(`too small for a finger: ${called(e)}, ${Math.round(small.height)} px`);
    if (field && !e.labels?.length && !e.ariaLabel) out.push("no label: " + called(e));
    if (field && screen.width < 768 && parseFloat(getComputedStyle(e).fontSize) < 16) out.push("a phone would zoom into it: " + called(e));
    if (!field && !e.innerText.trim() && !e.ariaLabel) out.push("says nothing: " + called(e));
  }
  const rgb = (s) => (s.match(/[\d.]+/g) ?? []).map(Number);
  const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches && getComputedStyle(root).colorScheme.includes("dark") ? [18, 18, 18] : [255, 255, 255];
  };
  const faint = new Set();
  for (const e of document.querySelectorAll("body *")) {
    if (!shown(e) || e.matches(":disabled") || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    const style = getComputedStyle(e);
    const [a, b] = [light(rgb(style.color)), light(behind(e))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) faint.add(`hard to read (${ratio.toFixed(1)}:1): ${e.localName}.${e.className}`);
  }
  return [...out, ...faint];
}

// axe holds the page against its rules, in a world of its own, because the page's policy lets no other script in.
async function axe({ file, name }) {
  await page.evaluate(settled);
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
  await session.send("Runtime.evaluate", { expression: readFileSync(file, "utf8"), contextId });
  const expression = `axe.run(${name ? `{ runOnly: ["${name}"] }` : ""}).then((r) => JSON.stringify(r.violations.map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(" | "))))`;
  const { result } = await session.send("Runtime.evaluate", { expression, contextId, awaitPromise: true, returnByValue: true });
  heard.push(...JSON.parse(result.value).map((v) => "axe: " + v));
  await session.detach();
}

// targets are what is pressed: 24 pixels at least, 44 high on a phone. Words inside a sentence and marks of a chart are not measured.
async function targets() {
  const small = await page.evaluate(() => {
    const least = matchMedia("(max-width: 47.99rem)").matches ? 44 : 24;
    const out = [];
    for (const e of document.querySelectorAll("a, button, input, select, textarea, summary")) {
      if (!e.checkVisibility() || e.closest("svg, p, [aria-hidden=true]") || e.closest("[inert]")) continue;
      let box = (e.closest("label") ?? e).getBoundingClientRect();
      if (getComputedStyle(e, "::after").position === "absolute") box = e.offsetParent.getBoundingClientRect();
      const covered = box.bottom <= 0 || getComputedStyle(e).pointerEvents === "none";
      if (!covered && (box.height < least - 0.5 || box.width < 23.5))
        out.push(`a target of ${Math.round(box.width)} × ${Math.round(box.height)}, less than ${least}: <${e.localName}> ${(e.innerText || e.ariaLabel || "").slice(0, 40)}`);
    }
    return out;
  });
  heard.push(...small);
}

async function look() {
  await page.waitForLoadState("load");
  await page.evaluate(settled);
  const seen = await page.evaluate(faults);
  return { url: page.url(), status: answered.get(page.url()) ?? 0, title: await page.title(), text: await page.innerText("body"), faults: [...heard.splice(0), ...seen] };
}

for await (const line of createInterface({ input: process.stdin })) {
  const step = JSON.parse(line);
  let out = {};
  try {
    const said = await steps[step.do](step);
    if (typeof said?.text === "string") out = { text: said.text };
    if (step.look) out = await look();
  } catch (e) {
    out = { error: e.message, url: page?.url(), text: await page?.innerText("body").catch(() => ""), faults: heard };
  }
  process.stdout.write(JSON.stringify(out) + "\n");
  if (step.do === "quit") break;
}
