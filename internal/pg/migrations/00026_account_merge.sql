-- +goose Up

-- The account from which a transaction came, if its account was merged into another. The bank of the
-- account that it is in now does not know it, so that nothing is concluded from its absence there.
alter table transaction add moved_from uuid references account (id) on delete set null;
create index transaction_moved_from on transaction (moved_from) where moved_from is not null; -- the foreign key's check when an account is erased

-- An account that another was merged into can be erased.
alter table account drop constraint account_merged_into_fkey,
	add constraint account_merged_into_fkey foreign key (merged_into) references account (id) on delete set null;
