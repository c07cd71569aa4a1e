/**
 * Text typed into a form is kept in the tab's session storage when the session ends. After signing in again, the person
 * returns to the same address and finds the text there. Passwords and files are never kept.
 */
type Draft = Record<string, string>;

const key = (name: string) => ["draft", location.pathname + location.search, name].join(" ");

type Input = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

const secret = (e: Input) => e.type === "password" || e.type === "file" || e.hasAttribute("data-secret");
const boxed = (e: Input): e is HTMLInputElement => e.type === "checkbox" || e.type === "radio";

const inputs = (form: HTMLFormElement) =>
  [...form.elements].filter((e): e is Input => "name" in e && e.name !== "" && !secret(e as Input));

/** Keeps the text of every form on the page with a `data-draft`, before the browser leaves for the sign-in page. */
export function saveDrafts(root: ParentNode = document) {
  for (const form of root.querySelectorAll<HTMLFormElement>("form[data-draft]")) {
    const draft: Draft = {};
    for (const e of inputs(form)) {
      if (!boxed(e)) draft[e.name] = e.value;
      else if (e.checked) draft[e.name] = e.value;
    }
    sessionStorage.setItem(key(form.dataset.draft ?? ""), JSON.stringify(draft));
  }
}

/** Whether there is kept text for this form. Its dialog then opens by itself. */
export const draftWaits = (name: string) => sessionStorage.getItem(key(name)) !== null;

/** For the `ref` of a form with a `data-draft`: fills in the kept text, once. */
export function restoreDraft(form: HTMLFormElement | null) {
  const name = form?.dataset.draft;
  const stored = name && sessionStorage.getItem(key(name));
  if (!form || !name || !stored) return;
  sessionStorage.removeItem(key(name));
  const draft = JSON.parse(stored) as Draft;
  for (const e of inputs(form)) write(e, draft[e.name]);
}

/** Sets a field's value and sends the event of typing, so that React notices the change in a field that it controls. */
function write(e: Input, value: string | undefined) {
  if (boxed(e)) {
    if (e.checked !== (value === e.value)) e.click();
    return;
  }
  if (value === undefined || value === e.value) return;
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), "value")?.set?.call(e, value);
  e.dispatchEvent(new Event(e instanceof HTMLSelectElement ? "change" : "input", { bubbles: true }));
}
