import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { overlay } from "#/lib/overlay";
import { theme } from "#/lib/persisted";
import { Button, Segments } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Item, Lines } from "#/ui/Lines";

const themes = [
  ["system", msg`System`],
  ["light", msg`Light`],
  ["dark", msg`Dark`],
] as const;

/** The theme, which only this browser stores, the keyboard shortcuts, and a link to the API reference. */
export function Look() {
  const look = theme.use();
  return (
    <Card
      title={t`Appearance and shortcuts`}
      flush
      foot={
        <a className="link" href="/docs">
          <Trans>API reference</Trans>
        </a>
      }
    >
      <Lines>
        <Item
          name={t`Theme`}
          end={
            <Segments
              label={t`Theme`}
              value={look}
              options={themes.map(([value, name]) => [value, i18n._(name)] as const)}
              onChange={theme.set}
            />
          }
        />
        <Item
          name={t`Keyboard shortcuts`}
          end={
            <Button kind="quiet" keyed="?" onClick={() => overlay.set("keys")}>
              <Trans>Show</Trans>
            </Button>
          }
        />
      </Lines>
    </Card>
  );
}
