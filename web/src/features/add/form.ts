import { t } from "@lingui/core/macro";
import { localDay } from "#/lib/days";
import { money } from "#/lib/money";
import { typed } from "#/lib/typed";
import { matching, named, type Payee, usual } from "#/parts/addKnown";
import { add } from "./add";
import { el } from "./dom";
import { strip, waitingList } from "./sent";
import { currencyOf, state } from "./state";

/** Fills in the payee's usual category and account, unless the member has chosen one. */
function follow(p: Payee | undefined) {
  if (!state.draft.chose.category) state.draft.category = p?.category ?? "";
  if (!state.draft.chose.account) state.draft.account = p?.account ?? usual(state.known)?.id ?? "";
}

function row(id: string, name: string, field: HTMLElement) {
  return el("div", { class: "row" }, el("label", { for: id }, name), field);
}

export function form() {
  const submit = el("button", { class: "btn pri", type: "submit" });
  const amount = el("input", {
    id: "amount",
    class: "big",
    inputmode: "decimal",
    autocomplete: "off",
    enterkeyhint: "next",
    placeholder: money(0n, currencyOf()),
    "aria-label": t`Amount`,
    required: true,
    maxlength: 20,
  });
  amount.value = state.draft.amount;
  const fault = el("p", { id: "fault", class: "fault", role: "alert" });
  const label = () => {
    const n = typed(state.draft.amount);
    const sum = n !== null && n > 0n ? money(n, currencyOf()) : "";
    submit.replaceChildren(sum ? t`Add ${{ amount: sum }}` : t`Add`);
    amount.placeholder = money(0n, currencyOf());
  };
  amount.addEventListener("input", () => {
    state.draft.amount = amount.value;
    label();
  });
  const way = (value: string, name: string) => {
    const radio = el("input", { type: "radio", name: "way", value, id: `way-${value}` });
    radio.checked = state.draft.way === value;
    radio.addEventListener("change", () => {
      state.draft.way = value;
    });
    return el("label", { for: `way-${value}` }, radio, el("span", {}, name));
  };
  const list = el("div", { class: "sugg", role: "group", "aria-label": t`Suggestions` });
  const payee = el("input", {
    id: "payee",
    autocomplete: "off",
    autocapitalize: "words",
    enterkeyhint: "done",
    maxlength: 256,
    required: true,
    placeholder: t`Who was it?`,
  });
  payee.value = state.draft.payee;
  const category = el("select", { id: "category" });
  category.addEventListener("change", () => {
    state.draft.category = category.value;
    state.draft.chose.category = true;
  });
  const from = el("select", { id: "account", required: true });
  from.addEventListener("change", () => {
    state.draft.account = from.value;
    state.draft.chose.account = true;
    label();
  });
  const mark = () => {
    fault.textContent = state.draft.fault;
    for (const f of [amount, payee, from]) {
      const bad = state.draft.fault !== "" && state.draft.at === f.id;
      for (const [name, value] of [
        ["aria-invalid", "true"],
        ["aria-describedby", "fault"],
      ] as const)
        if (bad) f.setAttribute(name, value);
        else f.removeAttribute(name);
    }
  };
  mark();
  /** Clears the error when its field changes. An error without a field is cleared when any field changes. */
  const clearFault = (id: string) => {
    if (!state.draft.fault || (state.draft.at && state.draft.at !== id)) return;
    state.draft.fault = state.draft.at = "";
    mark();
  };
  const followed = () => {
    category.value = state.draft.category;
    if (category.selectedIndex < 0) category.value = "";
    from.value = state.draft.account || usual(state.known)?.id || "";
    label();
  };
  const suggest = () => {
    const typedName = state.draft.payee;
    const suggestions = named(state.known.payees, typedName) ? [] : matching(state.known.payees, typedName);
    list.replaceChildren(
      ...suggestions.map((p) =>
        el(
          "button",
          {
            type: "button",
            on: {
              click: () => {
                payee.value = state.draft.payee = p.name;
                clearFault("payee");
                follow(p);
                followed();
                suggest();
                payee.focus();
              },
            },
          },
          p.name,
        ),
      ),
    );
    list.hidden = suggestions.length === 0;
  };
  payee.addEventListener("input", () => {
    state.draft.payee = payee.value;
    follow(named(state.known.payees, state.draft.payee));
    followed();
    suggest();
  });
  const date = el("input", { id: "date", type: "date", required: true });
  date.value = state.draft.date;
  date.addEventListener("change", () => {
    state.draft.date = date.value;
  });
  const memo = el("input", { id: "memo", autocomplete: "off", maxlength: 512 });
  memo.value = state.draft.memo;
  memo.addEventListener("input", () => {
    state.draft.memo = memo.value;
  });
  const more = el(
    "details",
    { class: "more" },
    el("summary", {}, el("span", {}, t`More`), el("span", { class: "dim" }, t`Date, memo`)),
    row("date", t`Date`, date),
    row("memo", t`Memo (optional)`, memo),
  );
  more.open = state.draft.memo !== "" || state.draft.date !== localDay(new Date());
  const notes = el("div", { class: "notes" });
  state.refill = () => {
    category.replaceChildren(new Option(t`Automatic`, ""));
    for (const c of state.known.categories) {
      const group = el("optgroup", { label: c.name });
      for (const x of [{ slug: c.slug, name: c.name }, ...c.children]) group.append(new Option(x.name, x.slug));
      category.append(group);
    }
    if (state.known.accounts.length) clearFault("account");
    from.replaceChildren(...state.known.accounts.map((a) => new Option(a.name, a.id)));
    follow(named(state.known.payees, state.draft.payee));
    followed();
    suggest();
    notes.replaceChildren(...[strip(), state.queue.length > 0 && waitingList()].filter((n) => n instanceof Node));
  };
  state.refill();
  return el(
    "main",
    {},
    el(
      "form",
      {
        class: "box",
        novalidate: true,
        on: {
          input: (e) => clearFault((e.target as HTMLElement).id),
          submit: (e) => {
            e.preventDefault();
            void add();
          },
        },
      },
      el(
        "div",
        { class: "amount" },
        amount,
        fault,
        el(
          "div",
          { class: "seg", role: "group", "aria-label": t`Direction` },
          way("out", t`Money out`),
          way("in", t`Money in`),
        ),
      ),
      el(
        "div",
        { class: "pick" },
        row("payee", t`Payee`, payee),
        list,
        row("category", t`Category`, category),
        row("account", t`Account`, from),
        more,
      ),
      notes,
      el("div", { class: "go" }, submit),
    ),
  );
}
