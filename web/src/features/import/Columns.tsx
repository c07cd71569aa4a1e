import { t } from "@lingui/core/macro";
import type { FilePreview, Mapping } from "#/api/files";
import { Choose } from "#/ui/Form";
import { mapped, mappingOf, meaningOf, meanings } from "./columns";
import css from "./ImportPage.module.css";

/** The columns of a file, each with its meaning and some values. */
export function Columns({ preview: p, onChange }: { preview: FilePreview; onChange: (m: Mapping) => void }) {
  const m = mappingOf(p);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a file that is wider than the screen is scrolled by keys too
    <ul className={css.columns} aria-label={t`Columns`} tabIndex={0}>
      {p.columns.map((c) => {
        const name = c.name || t`Column ${{ number: c.index + 1 }}`;
        const meaning = meaningOf(m, c.index);
        return (
          <li key={c.index}>
            <bdi className="cut small dim">{name}</bdi>
            <Choose
              label={t`Contents of ${{ column: name }}`}
              options={meanings()}
              value={meaning}
              onChange={(e) => onChange(mapped(m, c.index, e.target.value))}
            />
            {c.samples.map((s) => (
              <bdi key={s} className={`cut ${meaning ? "" : "faint"}`}>
                {s || " "}
              </bdi>
            ))}
          </li>
        );
      })}
    </ul>
  );
}
