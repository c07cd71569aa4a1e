import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { FileOptions, FilePreview } from "#/api/files";
import { Badge } from "#/ui/Chip";
import { Choose } from "#/ui/Form";
import { dateOptions, decimals, delimiters, encodings, signs } from "./columns";
import css from "./ImportPage.module.css";
import { sureness } from "./words";

type Props = { preview: FilePreview; onChange: (o: FileOptions) => void };

const moods = { high: "in", medium: "plain", low: "warn" } as const;

/** The settings with which the file is read. Each can be changed. */
export function ReadAs({ preview: p, onChange }: Props) {
  const how = sureness(p);
  return (
    <div className={`${css.read} row wrap`}>
      <span className="dim">
        <Trans>File format</Trans>
      </span>
      <Choose
        label={t`Encoding`}
        options={encodings}
        value={p.encoding}
        onChange={(e) => onChange({ encoding: e.target.value })}
      />
      <Choose
        label={t`Delimiter`}
        options={delimiters()}
        value={p.delimiter}
        onChange={(e) => onChange({ delimiter: e.target.value })}
      />
      <Choose
        label={t`Date format`}
        options={dateOptions(p.date_format)}
        value={p.date_format}
        onChange={(e) => onChange({ date_format: e.target.value })}
      />
      <Choose
        label={t`Number format`}
        options={decimals}
        value={p.decimal_separator}
        onChange={(e) => onChange({ decimal_separator: e.target.value })}
      />
      <Choose
        label={t`Money out`}
        options={signs()}
        value={p.amount_sign}
        onChange={(e) => onChange({ amount_sign: e.target.value as FileOptions["amount_sign"] })}
      />
      <Badge mood={moods[how.level]}>{how.words}</Badge>
    </div>
  );
}
