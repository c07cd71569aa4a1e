import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { ApiError } from "#/api/client";
import { Button } from "#/ui/Button";
import { Icon } from "#/ui/Icon";
import css from "./Fault.module.css";
import { refusal } from "./refusals";

/** An error message that says which data failed to load and why, with a button to try again. */
export function Fault({ error, what, retry }: { error: unknown; what: string; retry: () => void }) {
  const refused = error instanceof ApiError;
  const details = refused
    ? [error.code, error.request && t`request ID ${{ id: error.request }}`].filter(Boolean).join(" · ")
    : "";
  return (
    <div className={css.fault} role="alert">
      <Icon name="warn" />
      <div className="grow">
        <strong>
          <Trans>Couldn’t load {what}</Trans>
        </strong>
        <p>{refused ? refusal(error) : t`Can’t reach the server. Nothing was changed.`}</p>
        {details && <p className="small faint mono">{details}</p>}
      </div>
      {details && (
        <Button
          kind="quiet"
          icon="copy"
          aria-label={t`Copy details`}
          onClick={() => void navigator.clipboard.writeText(details)}
        />
      )}
      <Button onClick={retry}>
        <Trans>Try again</Trans>
      </Button>
    </div>
  );
}
