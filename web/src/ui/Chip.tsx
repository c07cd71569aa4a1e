import { Trans } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { Tone } from "#/lib/tones";
import { type Author, AuthorBadge } from "./AuthorBadge";
import css from "./Chip.module.css";
import { Icon } from "./Icon";
import type { IconName } from "./icons";

/** A category and who set it. A transaction without a category has an outlined chip, because it needs a person. */
export function Chip(p: { name: string | null; author?: Author | null; held?: boolean; tone?: Tone; old?: boolean }) {
  if (p.name === null)
    return (
      <span className={`${css.chip} ${css.none}`}>
        <span className="cut">
          <Trans>Uncategorized</Trans>
        </span>
      </span>
    );
  return (
    <span className={`${css.chip} ${p.old ? css.old : ""} ${p.tone === undefined ? "" : `c${p.tone}`}`}>
      {p.author ? <AuthorBadge author={p.author} /> : p.tone !== undefined && <span className={css.dot} />}
      <span className="cut">{p.name}</span>
      {p.held && (
        <>
          <Icon name="lock" small />
          <span className="sr">
            <Trans>locked</Trans>
          </span>
        </>
      )}
    </span>
  );
}

/** A category's picture on a light shade of its color, so that the eye finds categories quickly in a list. */
export function Tile({ tone, icon, large }: { tone: Tone; icon: IconName; large?: boolean }) {
  return (
    <span className={`${css.tile} ${large ? css.large : ""} c${tone}`}>
      <Icon name={icon} small={!large} />
    </span>
  );
}

export type Mood = "plain" | "pending" | "held" | "warn" | "bad" | "in" | "act";

export function Badge({ mood = "plain", children }: { mood?: Mood; children: ReactNode }) {
  return <span className={`${css.badge} ${css[`is-${mood}`] ?? ""}`}>{children}</span>;
}

export function Tag({ slug }: { slug: string }) {
  return <span className={css.tag}>{slug}</span>;
}

/** How current something is: a full dot, or a hollow one if it is old or its age is unknown. */
export function Freshness({ old, children }: { old?: boolean; children?: ReactNode }) {
  return <span className={`${css.freshness} ${old ? css.stale : ""}`}>{children}</span>;
}
