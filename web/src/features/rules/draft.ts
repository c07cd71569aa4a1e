import { useEffect, useState } from "react";
import type { Form } from "./form";

const key = () => ["rule", location.pathname + location.search].join(" ");

/**
 * The form of a draft, if the draft began from this form. Otherwise the rule has been saved since, and the draft is
 * dropped.
 */
export function resumed(draft: string | null, start: Form): Form {
  const stored = draft ? (JSON.parse(draft) as { start: Form; form: Form }) : null;
  return stored && JSON.stringify(stored.start) === JSON.stringify(start) ? stored.form : start;
}

/** The draft from before a reload of the page, else the rule as it is. */
export const draftOf = (start: Form) => resumed(sessionStorage.getItem(key()), start);

/**
 * Keeps an edited rule in the tab's storage until it is saved or the person leaves the page. A reload does not delete
 * it.
 */
export function useKept(start: Form, edited: Form | null) {
  const [name] = useState(key);
  useEffect(() => {
    if (edited) sessionStorage.setItem(name, JSON.stringify({ start, form: edited }));
    else sessionStorage.removeItem(name);
  });
  useEffect(() => () => sessionStorage.removeItem(name), [name]);
}
