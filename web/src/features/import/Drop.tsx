import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import { Icon } from "#/ui/Icon";
import { statements } from "./accepted";
import css from "./ImportPage.module.css";

/** The area to drop a file on, with a button to choose one. */
export function Drop({ onFile, again }: { onFile: (f: File) => void; again?: boolean }) {
  const [over, setOver] = useState(false);
  const take = (files: FileList | null) => {
    const f = files?.[0];
    if (f) onFile(f);
  };
  return (
    <section
      aria-label={t`Drop a bank statement here`}
      className={`${css.drop} ${over ? css.over : ""}`}
      onDragOver={(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => {
        e.preventDefault();
        setOver(false);
        take(e.dataTransfer.files);
      }}
    >
      <strong>{again ? t`Import another statement` : t`Drop a bank statement here`}</strong>
      <span className="dim">
        <Trans>
          CSV, OFX, QIF, CAMT, MT940, Excel or ZIP from any bank. You’ll see a preview first, and you can undo it later.
        </Trans>
      </span>
      <label>
        <Icon name="upload" small />
        <Trans>Choose file</Trans>
        <input type="file" accept={statements} onChange={(e) => take(e.target.files)} />
      </label>
    </section>
  );
}
