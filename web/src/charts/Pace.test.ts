import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { Pace } from "./Pace";

const drawn = (before: bigint[]) => {
  const say = (c: bigint) => String(c);
  const now = { name: "November", sums: [100n, 200n] };
  const chart = createElement(Pace, { now, before: { name: "October", sums: before }, days: 30, say, axis: say });
  return renderToStaticMarkup(createElement(I18nProvider, { i18n }, chart));
};
const lastDay = (before: bigint[]) =>
  drawn(before)
    .match(/scope="row">(\d+)</g)
    ?.at(-1);

it("has all days of its month, also without a month before", () => {
  expect(lastDay([])).toBe('scope="row">30<');
  expect(lastDay(Array(31).fill(1n))).toBe('scope="row">31<');
});
