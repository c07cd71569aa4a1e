import { t } from "@lingui/core/macro";
import { Link } from "@tanstack/react-router";
import { type JSX, useMemo } from "react";
import { Table } from "#/ui/Lines";
import { type Block, type Inline, type Item, plain, read } from "./markdown";
import css from "./Reports.module.css";

/**
 * A report, drawn with the app's own elements. Nothing in its text can run a script, load anything or lead to another
 * site.
 */
export function Markdown({ text, title }: { text: string; title: string }) {
  const blocks = useMemo(() => {
    const all = read(text);
    const first = all[0];
    return first?.kind === "heading" && plain(first.of) === title ? all.slice(1) : all;
  }, [text, title]);
  let level = 2;
  let tables = 0;
  const block = (b: Block, key: number): JSX.Element => {
    switch (b.kind) {
      case "heading": {
        level = Math.min(b.level + 2, level + 1, 6);
        const Head = `h${level}` as "h3";
        return <Head key={key}>{words(b.of)}</Head>;
      }
      case "text":
        return <p key={key}>{words(b.of)}</p>;
      case "list": {
        const items = b.items.map((i, at) => item(i, at));
        return b.first === null ? (
          <ul key={key}>{items}</ul>
        ) : (
          <ol key={key} start={b.first}>
            {items}
          </ol>
        );
      }
      case "table":
        tables++;
        return (
          <Table
            key={key}
            label={t`Table ${{ number: tables }}`}
            heads={b.heads.map(plain)}
            num={b.num}
            rows={b.rows.map((cells, at) => ({ key: String(at), cells: cells.map(words) }))}
          />
        );
      case "quote":
        return <blockquote key={key}>{b.of.map(block)}</blockquote>;
      case "code":
        return (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than a phone is scrolled by keys too
          <pre key={key} tabIndex={0} className="mono">
            {b.text}
          </pre>
        );
      case "line":
        return <hr key={key} />;
    }
  };
  const item = (i: Item, at: number) => {
    const lone = i.of.length === 1 && i.of[0]?.kind === "text" ? words(i.of[0].of) : i.of.map(block);
    return (
      <li key={at} className={i.done === undefined ? undefined : css.box}>
        {i.done !== undefined && (
          <>
            <span aria-hidden="true">{i.done ? "☑ " : "☐ "}</span>
            <span className="sr">{i.done ? t`Done:` : t`To do:`} </span>
          </>
        )}
        {lone}
      </li>
    );
  };
  return <div className={css.prose}>{blocks.map(block)}</div>;
}

function words(of: Inline[]): JSX.Element {
  return (
    <>
      {of.map((x, i) => {
        // biome-ignore-start lint/suspicious/noArrayIndexKey: a text does not change its order
        if (typeof x === "string") return <bdi key={i}>{x}</bdi>;
        switch (x.kind) {
          case "strong":
            return <strong key={i}>{words(x.of)}</strong>;
          case "em":
            return <em key={i}>{words(x.of)}</em>;
          case "struck":
            return <s key={i}>{words(x.of)}</s>;
          case "code":
            return (
              <code key={i} className="mono">
                {x.text}
              </code>
            );
          case "link":
            return (
              <Link key={i} to={x.to as "/"}>
                {words(x.of)}
              </Link>
            );
        }
        // biome-ignore-end lint/suspicious/noArrayIndexKey: a text does not change its order
        return null;
      })}
    </>
  );
}
