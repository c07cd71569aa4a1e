import { t } from "@lingui/core/macro";
import type { ReactNode } from "react";
import type { Leaf } from "#/api/filing";
import { chosen, colors, type LookIcon, pictures } from "#/lib/tones";
import { Icon } from "#/ui/Icon";
import css from "./Looks.module.css";

const colorNames = () => [
  t`Petrol`,
  t`Amber`,
  t`Indigo`,
  t`Terracotta`,
  t`Green`,
  t`Plum`,
  t`Blue`,
  t`Olive`,
  t`Wine red`,
  t`Violet`,
  t`Brown`,
  t`Slate`,
];

const pictureNames = (): Partial<Record<LookIcon, string>> => ({
  coin: t`Coin`,
  home: t`House`,
  bolt: t`Lightning`,
  fork: t`Fork and knife`,
  train: t`Train`,
  bag: t`Shopping bag`,
  child: t`Child`,
  heart: t`Heart`,
  spark: t`Sparkle`,
  play: t({ message: "Screen", context: "picture" }),
  plane: t`Plane`,
  shield: t`Shield`,
  bank: t({ message: "Bank", context: "picture" }),
  file: t({ message: "Document", context: "picture" }),
  gift: t`Gift`,
  phone: t({ message: "Phone", context: "picture" }),
  swap: t`Arrows`,
  cart: t`Shopping cart`,
  book: t`Book`,
});

/** Lets a person choose the color and the picture of a category. */
export function Looks({ category }: { category?: Leaf }) {
  const now = chosen(category);
  const names = colorNames();
  const words = pictureNames();
  return (
    <>
      <Choices
        legend={t`Color`}
        name="color"
        value={now.tone === undefined ? "" : (colors[now.tone - 1] ?? "")}
        options={colors.map((c, i) => [c, names[i] ?? c, `c${i + 1}`, <span key={c} className={css.dot} />])}
      />
      <Choices
        legend={t`Icon`}
        name="icon"
        value={now.icon ?? ""}
        options={pictures.map((p) => [p, words[p] ?? p, "", <Icon key={p} name={p} />])}
      />
    </>
  );
}

type Option = readonly [value: string, name: string, tone: string, picture: ReactNode];

function Choices(p: { legend: string; name: string; value: string; options: readonly Option[] }) {
  const usual: Option = ["", t`Default`, "", "–"];
  return (
    <fieldset className={css.set}>
      <legend>{p.legend}</legend>
      <div className={css.choices}>
        {[usual, ...p.options].map(([value, name, tone, picture]) => (
          <label key={value} className={`${css.choice} ${tone}`} title={name}>
            <input type="radio" name={p.name} value={value} defaultChecked={value === p.value} aria-label={name} />
            {picture}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
