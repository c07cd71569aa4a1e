import { t } from "@lingui/core/macro";
import { Tile } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { Item } from "#/ui/Lines";

/** Links to recovery codes, which a page of the server creates. */
export function RecoveryItem({ left }: { left: number }) {
  return (
    <Item
      mark={<Tile tone={7} icon="key" />}
      name={left > 0 ? t`Recovery codes` : t`Create recovery codes`}
      hint={left > 0 ? t`${left} left` : t`They let you sign in if you lose your password or passkey`}
      open={(name) => <a href="/account">{name}</a>}
      end={<Icon name="chev" small />}
    />
  );
}
