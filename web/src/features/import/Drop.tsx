import { useState } from "react";
import { Icon } from "#/ui/Icon";
import css from "./ImportPage.module.css";

/** Where a file is dropped or chosen. */
export function Drop({ onFile, again }: { onFile: (f: File) => void; again?: boolean }) {
  const [over, setOver] = useState(false);
  const take = (files: FileList | null) => {
    const f = files?.[0];
    if (f) onFile(f);
  };
  return (
    <section
      aria-label="Drop a statement here"
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
      <strong>{again ? "Another statement" : "Drop a statement from your bank here"}</strong>
      <span className="dim">
        A CSV file in any of the forms that banks write. Nothing is stored before you say so, and all of it can be
        undone.
      </span>
      <label>
        <Icon name="upload" small />
        Choose a file
        <input type="file" accept=".csv,.tsv,.txt,text/csv,text/plain" onChange={(e) => take(e.target.files)} />
      </label>
    </section>
  );
}
