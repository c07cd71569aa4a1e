import { useEffect, useState } from "react";
import type { Form } from "./form";

const key = () => ["rule", location.pathname + location.search].join(" ");

/** The form of a draft, if it was begun from this one: the rule may have been saved otherwise meanwhile. */
export function resumed(draft: string | null, start: Form): Form {
  const stored = draft ? (JSON.parse(draft) as { start: Form; form: Form }) : null;
  return stored && JSON.stringify(stored.start) === JSON.stringify(start) ? stored.form : start;
}

/** The text from before the page was loaded again, else the rule as it is. */
export const draftOf = (start: Form) => resumed(sessionStorage.getItem(key()), start);

/** Keeps an edited rule with its tab until it is saved or left. A page that is loaded again leaves nothing. */
export function useKept(start: Form, edited: Form | null) {
  const [name] = useState(key);
  useEffect(() => {
    if (edited) sessionStorage.setItem(name, JSON.stringify({ start, form: edited }));
    else sessionStorage.removeItem(name);
  });
  useEffect(() => () => sessionStorage.removeItem(name), [name]);
}
