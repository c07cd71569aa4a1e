import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { providers } from "#/api/settings";
import { linkBank } from "#/parts/banks";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Fields } from "#/ui/Form";
import { AddAccount } from "./AddAccount";

const names = { plaid: "Plaid", teller: "Teller" } as const;

/** How to add accounts: link a bank, write one down, or import a file. */
export function AddMoney({ may, filled }: { may: boolean; filled: boolean }) {
  const { data } = useQuery(providers);
  if (!may) return null;
  const ways = (["plaid", "teller"] as const).filter((p) => data?.[p].configured);
  return (
    <Card title="Add an account">
      <Fields>
        {ways.map((p, i) => (
          <Button key={p} icon="bank" kind={filled && i === 0 ? "filled" : "plain"} onClick={() => void linkBank(p)}>
            Link a bank{ways.length > 1 ? ` with ${names[p]}` : ""}
          </Button>
        ))}
        {data && ways.length === 0 && (
          <p className="small dim">
            No bank can be linked yet: an admin first enters the keys of Plaid or Teller under Settings.
          </p>
        )}
        <AddAccount />
        <Link className="link" to="/import" search={{}}>
          Import a file
        </Link>
        <p className="small dim">You sign in at the bank itself; coffer never sees your password.</p>
      </Fields>
    </Card>
  );
}
