import { Plural, Trans } from "@lingui/react/macro";
import { Button } from "#/ui/Button";
import css from "./ImportPage.module.css";

type Props = {
  inserted: number;
  /** Why the import cannot begin yet; "" if it can. */
  why: string;
  busy: boolean;
  onImport: () => void;
  onBack: () => void;
};

/** The buttons below a preview. */
export function Decide({ inserted, why, busy, onImport, onBack }: Props) {
  return (
    <div className={css.dock}>
      <Button kind="filled" disabled={why !== "" || busy} onClick={onImport}>
        <Plural value={{ inserted }} one="Import # transaction" other="Import # transactions" />
      </Button>
      <Button kind="quiet" onClick={onBack}>
        <Trans>Choose another file</Trans>
      </Button>
      {why && <span>{why}</span>}
    </div>
  );
}
