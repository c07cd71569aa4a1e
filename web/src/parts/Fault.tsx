import { ApiError } from "#/api/client";
import { Button } from "#/ui/Button";
import { Icon } from "#/ui/Icon";
import { sentence } from "./edit";
import css from "./Fault.module.css";

/** What could not be done, what did not happen to the data, and what to do. */
export function Fault({ error, what, retry }: { error: unknown; what: string; retry: () => void }) {
  const refused = error instanceof ApiError;
  const details = refused ? [error.code, error.request && `request ${error.request}`].filter(Boolean).join(" · ") : "";
  return (
    <div className={css.fault} role="alert">
      <Icon name="warn" />
      <div className="grow">
        <strong>{what} could not be loaded</strong>
        <p>{refused ? sentence(error.message) : "The server did not answer. Nothing was changed."}</p>
        {details && <p className="small faint mono">{details}</p>}
      </div>
      {details && (
        <Button
          kind="quiet"
          icon="copy"
          aria-label="Copy details"
          onClick={() => void navigator.clipboard.writeText(details)}
        />
      )}
      <Button onClick={retry}>Try again</Button>
    </div>
  );
}
