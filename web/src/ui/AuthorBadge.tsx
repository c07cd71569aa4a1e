import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import css from "./AuthorBadge.module.css";

/** The source of a value. Each kind has its own shape, because color alone must not distinguish them. */
export type Author = { kind: "bank" | "rule" | "agent" | "person"; name?: string };

const labels = {
  bank: msg`Set by the bank`,
  rule: msg`Set by a rule`,
  agent: msg`Set by an agent`,
  person: msg`Set by a person`,
};

export function AuthorBadge({ author, large }: { author: Author; large?: boolean }) {
  const label = author.name ? t`Set by ${{ name: author.name }}` : i18n._(labels[author.kind]);
  return (
    <span
      className={`${css.badge} ${css[author.kind]} ${large ? css.large : ""}`}
      role="img"
      aria-label={label}
      title={label}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {author.kind === "bank" && (
          <>
            <rect className={css.bg} x="1.5" y="1.5" width="13" height="13" rx="2" />
            <path className={css.fg} d="M4.5 7 8 4.700 11.500 7M5.200 9.200v2M8 9.200v2M10.800 9.200v2" />
          </>
        )}
        {author.kind === "rule" && (
          <>
            <rect
              className={css.bg}
              x="3.100"
              y="3.100"
              width="9.800"
              height="9.800"
              rx="1.500"
              transform="rotate(45 8 8)"
            />
            <path className={css.fg} d="M6.500 5.500v5M6.500 8h2a1.500 1.500 0 0 0 1.500-1.500V6" />
          </>
        )}
        {author.kind === "agent" && (
          <>
            <path className={css.bg} d="M8 .8l6.200 3.600v7.200L8 15.200 1.800 11.600V4.400z" />
            <path className={css.fg} d="M8 4.500 9 7l2.500 1L9 9 8 11.500 7 9 4.500 8 7 7z" />
          </>
        )}
        {author.kind === "person" && (
          <>
            <circle className={css.bg} cx="8" cy="8" r="6.700" />
            {author.name ? (
              <text x="8" y="11.200">
                {[...author.name][0]?.toUpperCase()}
              </text>
            ) : (
              <path
                className={css.fg}
                d="M6.300 6.300a1.700 1.700 0 1 0 3.400 0 1.700 1.700 0 1 0-3.400 0M4.800 11.500c.4-1.600 1.600-2.300 3.200-2.300s2.800.7 3.200 2.300"
              />
            )}
          </>
        )}
      </svg>
    </span>
  );
}
