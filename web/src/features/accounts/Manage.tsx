import type { Account } from "#/api/accounts";
import { AccountForm } from "./AccountForm";
import { DeleteAccount } from "./DeleteAccount";
import { MergeAccount } from "./MergeAccount";

/** The forms of an account. They load after its figures, because people open the page for the figures. */
export const Manage = ({ account, ends }: { account: Account; ends: boolean }) => (
  <>
    <AccountForm key={account.updated_at} account={account} />
    {ends && (
      <>
        <MergeAccount account={account} />
        <DeleteAccount account={account} />
      </>
    )}
  </>
);
