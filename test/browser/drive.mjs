// Drives one Chromium for the tests beside it: a line of JSON in is a step, a line of JSON out is what the page was like after it.
// It knows no page of coffer's; what it holds against every page is in faults().
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { pseudo } from "./pseudo.mjs";

const patience = 180_000; // the machine may be very busy
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
let page, origins, heard, answered, strict, asked, abrupt;

// open begins with an empty profile: no cookies, nothing kept. Dates and numbers are British and the clock is the machine's,
// unless another place is named. Its browser may speak another language; the words that the tests know stay English.
// Only those who ask for it have a service worker: what it fetches passes by the steps that change answers.
async function open({ size, allow, name, value, text, locale = "en-GB", zone }) {
  await page?.context().close();
  [origins, heard, answered, strict, asked, abrupt] = [allow, [], new Map(), name === "strict", new Set(), false]; // strict: no word on the console
  const context = await browser.newContext({ ...sizes[size], locale, timezoneId: zone, serviceWorkers: text === "worker" ? "allow" : "block" });
  if (!locale.startsWith("en")) await context.addInitScript(() => location.protocol.startsWith("http") && localStorage.setItem("language", "en"));
  context.setDefaultTimeout(patience);
  if (value) await context.clock.setFixedTime(value); // it is that moment, whatever the machine says
  page = await context.newPage();
  // Of this tab alone: one that is closed does not say what became of its requests.
  page.on("request", (r) => r.url().endsWith("/pulse") || asked.add(r)); // which is asked for again and again
  page.on("requestfailed", (r) => asked.delete(r));
  context.on("request", (r) => {
    if (!origins.includes(new URL(r.url()).origin)) heard.push("a request to " + r.url());
  });
  page.on("response", (r) => {
    asked.delete(r.request()); // it may never be finished: nobody reads an early answer that came too late
    if (!r.request().isNavigationRequest()) return;
    asked.clear(); // those of the page before, whose end is never reported
    answered.set(r.url(), r.status());
  });
  context.on("weberror", (e) => heard.push("a script failed: " + e.error().message));
  context.on("console", (m) => {
    if (m.text().startsWith("Service Worker registration blocked by Playwright")) return;
    const own = m.text().startsWith("Failed to load resource: the server responded") && answered.has(m.location().url); // an error page, whose status is looked at
    if ((strict || ["error", "warning"].includes(m.type())) && !own) heard.push(`console ${m.type()}: ${m.text()} (${m.location().url})`);
  });
  page.on("crash", () => heard.push("the page crashed"));
}

// leave ends the test's profile, and with it every page and request. The browser stays for the next test.
async function leave() {
  await page?.context().close();
  page = undefined;
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

// changed waits until no change is on its way, or for a minute: what became of it, the test sees by itself. A test that
// loses answers on purpose does not wait for them.
async function changed() {
  const begun = Date.now();
  const sent = () => [...asked].some((r) => !["GET", "HEAD", "OPTIONS"].includes(r.method()));
  if (abrupt || page.url() === "about:blank") return;
  for (let still = 0; still < 2 && Date.now() - begun < 60_000; still = sent() ? 0 : still + 1) await page.waitForTimeout(25);
}

const drawn = () => !document.querySelector("main [aria-busy=true]") && !!document.querySelector("h1");
const unrest = () => new Error(`the page does not come to rest; it waits for ${[...asked].map((r) => r.url()).join(", ") || "something to be drawn"}`);

const inside = (frame) => (frame ? page.frameLocator("iframe") : page);

const steps = {
  open, leave, authenticator,
  // A page that is left takes the change with it that is just being sent: who changed something waits for it.
  visit: async ({ url }) => {
    await changed();
    await page.goto(url);
  },
  click: ({ name, frame }) => inside(frame).locator("button, a, summary, label").filter({ hasText: new RegExp("^\\s*" + name + "\\s*$"), visible: true }).first().click(),
  // Follows a link by the keyboard: the middle of a bent ribbon's box can lie beside the ribbon.
  follow: async ({ name }) => {
    await page.locator("a").filter({ hasText: new RegExp("^\\s*" + name), visible: true }).first().focus();
    await page.keyboard.press("Enter");
  },
  // Restarts the first moment of a button, in which it must take no click.
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
  // The same by its whole label, where other labels begin with the same words.
  write: ({ name, value }) => page.getByLabel(name, { exact: true }).filter({ visible: true }).first().fill(value),
  tick: ({ name }) => page.getByRole("checkbox", { name }).filter({ visible: true }).first().check(),
  // A button by its whole name, also one that only screen readers know.
  press: ({ name }) => page.getByRole("button", { name, exact: true }).filter({ visible: true }).first().click(),
  "named-link": ({ name }) => page.getByRole("link", { name, exact: true }).filter({ visible: true }).first().click(),
  // Chooses a file, or one of several values by its words.
  upload: ({ name, file }) => (name ? page.getByLabel(name) : page.locator("input[type=file]").first()).setInputFiles(file),
  choose: ({ name, value }) => page.getByLabel(name, { exact: true }).filter({ visible: true }).first().selectOption({ label: value }),
  // What a field holds: its text, or the words of what is chosen.
  holds: async ({ name }) => ({ text: await page.getByLabel(name, { exact: true }).filter({ visible: true }).first().evaluate((e) => e.selectedOptions?.[0]?.label ?? e.value) }),
  // The line that is marked as the current one, and what a picker would take: read as text.
  currentKey: async () => ({ text: (await page.locator("[data-current]").getAttribute("data-key")) ?? "" }),
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
  // Until a part of the page says that, however it is set.
  says: ({ name, text }) => page.waitForFunction(([part, words]) => document.querySelector(part)?.innerText.replace(/\s+/g, " ").includes(words), [name, text]),
  // The name of a payment gives way to its state alone, and never to what else the bank says.
  named: async () => {
    const cut = await page.evaluate(() => [...document.querySelectorAll("[role=row] a.cut")].filter((a) => a.scrollWidth > a.clientWidth + 1 && a.parentElement.lastElementChild.clientWidth > 1).map((a) => a.innerText));
    heard.push(...cut.map((name) => "a name is cut for the bank's text: " + name));
  },
  // Goes on by Tab until something with that name has the focus, and tells what has it.
  reach: async ({ name }) => {
    for (let i = 0; i < 200; i++) {
      await page.keyboard.press("Tab");
      if ((await page.evaluate(focused)) === name) return;
    }
    throw new Error(`Tab does not lead to ${name}`);
  },
  focused: async () => ({ text: await page.evaluate(focused) }),
  back: () => page.goBack(),
  enter: () => page.keyboard.press("Enter"),
  key: ({ name }) => page.keyboard.press(name),
  // Keys that are one after the other, and together mean something if they come soon enough: none waits until the page has taken the one before.
  chord: ({ name }) => Promise.all([...name].map((k) => page.keyboard.press(k))),
  // A key that is pressed in another tab of the same browser.
  elsewhere: async ({ name }) => {
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.locator("h1").waitFor();
    await other.keyboard.press(name);
    await other.close();
  },
  // Until nothing is asked for any more and nothing moves.
  idle: async () => {
    await page.waitForLoadState("networkidle"); // which is true for ever once a page was idle
    const begun = Date.now();
    // Also for what begins to move. A page that is too busy to answer may not have asked yet; one that is being left answers nothing.
    for (let still = 0; still < 4; still = asked.size === 0 && (await page.evaluate(drawn).catch(() => false)) ? still + 1 : 0) {
      if (Date.now() - begun > patience) throw unrest();
      await page.waitForTimeout(50);
    }
    await page.waitForFunction(() => document.getAnimations().every((a) => a.playState !== "running" || a.effect.getComputedTiming().endTime === Infinity));
  },
  // Until all that was asked for is here and drawn. It is sooner than idle, which waits half a second for more.
  quiet: async () => {
    const begun = Date.now();
    for (let still = 0; still < 3; still = asked.size === 0 && (await page.evaluate(drawn)) ? still + 1 : 0) {
      if (Date.now() - begun > patience) throw unrest();
      await page.waitForTimeout(25);
    }
  },
  // The frame that every screen has: one heading, and the ways to all others.
  framed: async () => {
    const [heads, ways] = await page.evaluate(() => [[...document.querySelectorAll("h1")].filter((e) => e.innerText.trim()).length, [...document.querySelectorAll("nav a, nav button")].filter((e) => e.checkVisibility()).length]);
    if (heads !== 1) heard.push(`${heads} headings`);
    if (ways < 5) heard.push(`${ways} ways to other screens`);
  },
  // One address of the API answers with that from now on, or as it does if nothing is given.
  spoil: async ({ url, text }) => {
    await page.context().unroute(url);
    if (text) await page.context().route(url, (r) => r.fulfill({ json: JSON.parse(text) }));
  },
  // From the next page on the app's words are those of en-XA.
  longer: () =>
    page.context().route("**/assets/texts-en-*.js", async (r) => {
      const source = await (await r.fetch()).text();
      const { default: texts } = await import("data:text/javascript," + encodeURIComponent(source));
      await r.fulfill({ contentType: "text/javascript", body: `export default ${JSON.stringify(pseudo(texts))}` });
    }),
  // From the next page on the app speaks that language.
  language: ({ name }) => page.context().addInitScript((l) => localStorage.setItem("language", l), name),
  window: ({ name, value }) => {
    const [width, height] = value.split("x").map(Number);
    return page.setViewportSize({ width, height }).then(() => page.emulateMedia({ colorScheme: name || null }));
  },
  room,
  // Adds a fault of that kind, to see that it is found.
  plant: ({ name }) =>
    page.evaluate((kind) => {
      const e = document.createElement(kind === "policy" ? "style" : kind === "small" ? "button" : "div");
      e.textContent = kind === "policy" ? "b{}" : "planted";
      if (kind === "overflow") e.style.width = "3000px";
      if (kind === "small") Object.assign(e.style, { width: "20px", height: "10px", padding: 0, fontSize: "8px" });
      if (kind === "axe") e.setAttribute("aria-checked", "nonsense");
      if (kind === "cut off") Object.assign(e.style, { width: "20px", overflow: "hidden", whiteSpace: "nowrap" });
      if (kind === "over") Object.assign(e.style, { position: "absolute", left: "0", bottom: "0" });
      if (kind === "over") document.body.append(e.cloneNode(true));
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
  // Until the service worker has this page.
  worker: () => page.evaluate(() => navigator.serviceWorker.ready.then((r) => new Promise((yes) => {
    const on = () => navigator.serviceWorker.controller && r.active?.state === "activated" ? yes() : setTimeout(on, 50);
    on();
  }))),
  // From now on each payment is delivered once, twice, or without an answer, and not at all while there is no network.
  twice: () => {
    abrupt = true;
    return page.context().route("**/api/v1/transactions", async (r) => {
      if (r.request().method() !== "POST") return r.continue();
      if (await page.evaluate(() => !navigator.onLine).catch(() => true)) return r.abort("internetdisconnected");
      const luck = Math.random();
      const answer = await r.fetch();
      if (luck < 0.3) return r.abort("connectionreset");
      await r.fulfill({ response: luck < 0.6 ? await r.fetch() : answer });
    });
  },
  // A payment on the page that adds them, until it is in or kept.
  pay: async ({ name, value }) => {
    await page.getByLabel("Amount", { exact: true }).fill(value);
    await page.getByLabel("Payee", { exact: true }).fill(name);
    await page.locator("button[type=submit]").click();
    // In one go, because the page goes on to an empty form by itself when what waited has been sent.
    const done = await page.waitForFunction(() => {
      const another = [...document.querySelectorAll("button")].find((b) => b.innerText.trim() === "Add another");
      const head = document.querySelector("main h2")?.innerText;
      another?.click();
      return another ? head : document.querySelector("#amount")?.value === "" && "sent";
    });
    return { text: await done.jsonValue() };
  },
  // What a file that another app shares does.
  share: async ({ name, value, file }) => {
    const bytes = [...(file ? readFileSync(file) : Buffer.from(value))];
    await page.evaluate(([name, bytes]) => {
      const form = Object.assign(document.createElement("form"), { method: "post", action: "/share", enctype: "multipart/form-data" });
      const input = Object.assign(document.createElement("input"), { type: "file", name: "file" });
      const list = new DataTransfer();
      list.items.add(new File([new Uint8Array(bytes)], name, { type: "text/csv" }));
      input.files = list.files;
      form.append(input);
      document.body.append(form);
      form.submit();
    }, [name, bytes]);
  },
  // Forgets what the browser said about calls that were meant to fail.
  forgive: ({ text }) => { heard = heard.filter((h) => !h.includes(text ?? "Failed to load resource")); },
  // A text, or a regular expression between two slashes.
  see: ({ text, frame }) => inside(frame).getByText(/^\/.*\/$/.test(text) ? new RegExp(text.slice(1, -1)) : text).filter({ visible: true }).first().waitFor(),
  gone: ({ text }) => page.getByText(text).first().waitFor({ state: "detached" }),
  // The whole page, unless it is a list without end.
  shot: async ({ file }) => page.screenshot({ path: file, fullPage: (await page.evaluate(() => document.documentElement.scrollHeight)) < 5000 }),
  // What fits into the window, without a pointer or a focus ring on it.
  picture: async ({ file }) => {
    await page.evaluate(() => document.activeElement?.blur());
    await page.mouse.move(0, 0);
    await page.screenshot({ path: file, caret: "hide" });
  },
  // The page on paper.
  pdf: ({ file }) => page.pdf({ path: file, preferCSSPageSize: true }),
  look: () => {},
  quit: () => browser.close(),
};

// focused is the name of what has the focus, as one hears it.
function focused() {
  const e = document.activeElement;
  return (e?.ariaLabel || e?.labels?.[0]?.innerText || e?.innerText || "").replace(/\s+/g, " ").trim();
}

// settled ends what is on its way to another color or place, so that the page is judged as it stays.
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

// room finds words that do not fit: cut off by their box, or written over other words. Names that the household
// gave may end in dots; words of the app may not.
async function room() {
  const found = await page.evaluate(`(() => { ${settled} settled(); return (${crowded})(); })()`);
  heard.push(...found);
}

function crowded() {
  const out = [];
  const pseudo = document.body.innerText.includes("⟦");
  const said = (e) => `<${e.localName}> ${e.textContent.trim().slice(0, 40)}`;
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = walker.nextNode(); n; n = walker.nextNode()) {
    const e = n.parentElement;
    if (!n.data.trim() || !e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || e.closest("option, script, style, [inert], .sr-only")) continue;
    const range = document.createRange();
    range.selectNodeContents(n);
    const boxes = [...range.getClientRects()].filter((b) => b.width > 1 && b.height > 1);
    if (!boxes.length) continue;
    let [left, right, top, bottom, scrolls, fixed, dots, unseen] = [-Infinity, Infinity, -Infinity, Infinity];
    for (let a = e; a && a !== document.body; a = a.parentElement) {
      const style = getComputedStyle(a);
      const box = a.getBoundingClientRect();
      if (["fixed", "sticky"].includes(style.position)) fixed = true;
      if (style.clipPath !== "none" || (style.position === "absolute" && box.width <= 1)) unseen = true; // for screen readers
      if (["auto", "scroll"].includes(style.overflowX) || ["auto", "scroll"].includes(style.overflowY)) scrolls = true;
      if (scrolls) continue;
      if (style.overflowX !== "visible" && !(a instanceof SVGElement)) {
        [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
        if (style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none") dots = true;
      }
      if (style.overflowY !== "visible" && !(a instanceof SVGElement)) [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
    if (unseen) continue;
    const kept = boxes.map((b) => ({ left: Math.max(b.left, left), right: Math.min(b.right, right), top: Math.max(b.top, top), bottom: Math.min(b.bottom, bottom) })).filter((b) => b.right > b.left && b.bottom > b.top);
    // In the pseudo-language the app's words are known by their brackets; elsewhere by where they stand.
    const ours = !dots || /[⟦⟧]/.test(n.data) || (!pseudo && e.closest("nav, th, [role=tab]") && !e.closest("bdi"));
    if (ours && boxes.some((b) => b.right > right + 1 || b.left < left - 1 || b.bottom > bottom + 4)) out.push(`${dots ? "ends in dots" : "cut off"}: ${said(e)}`);
    if (!scrolls && kept.some((b) => b.right > innerWidth + 1)) out.push(`outside the window: ${said(e)}`);
    if (!fixed && !scrolls) texts.push(...kept.map((b) => ({ ...b, e })));
  }
  texts.sort((a, b) => a.top - b.top);
  const seen = new Set();
  for (let i = 0; i < texts.length; i++) {
    for (let j = i + 1; j < texts.length && texts[j].top < texts[i].bottom - 3; j++) {
      const [a, b] = [texts[i], texts[j]];
      if (a.e === b.e || a.e.contains(b.e) || b.e.contains(a.e)) continue;
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 2 && high > 5) seen.add(`over each other: ${said(a.e)} and ${said(b.e)}`);
    }
  }
  for (const control of document.querySelectorAll("button, .button, input, select")) {
    if (!control.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || control.closest(".sr-only")) continue;
    let floats = false;
    for (let a = control; a && a !== document.body; a = a.parentElement) {
      const { position, opacity } = getComputedStyle(a);
      if (["fixed", "sticky", "absolute"].includes(position) || opacity === "0") floats = true;
    }
    if (floats) continue;
    const c = control.getBoundingClientRect();
    for (const t of texts) {
      if (control.contains(t.e) || t.e.closest("label") === control.closest("label") && control.closest("label")) continue;
      if (Math.min(t.right, c.right) - Math.max(t.left, c.left) > 2 && Math.min(t.bottom, c.bottom) - Math.max(t.top, c.top) > 5)
        seen.add(`over each other: ${said(t.e)} and ${said(control)}`);
    }
  }
  return [...new Set(out), ...seen];
}

async function look() {
  await page.waitForLoadState("load");
  // In one step: between two the page may begin to change a color again.
  const seen = await page.evaluate(`(() => { ${settled} ${faults} settled(); return faults(); })()`);
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
