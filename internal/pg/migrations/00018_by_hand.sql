-- +goose Up

-- Where a transaction comes from: the bank (also a statement), a person who wrote it down, or a split
-- of another, whose parts are transactions of their own. One that is split is not counted itself;
-- remainder marks the part that takes what the others leave.
alter table transaction
	add origin text not null default 'bank' check (origin in ('bank', 'manual', 'part')),
	add parent_id uuid references transaction (id) on delete cascade,
	add is_split boolean not null default false,
	add remainder boolean not null default false;
create index transaction_parent on transaction (parent_id) where parent_id is not null;

-- An account that no bank keeps has the provider 'manual' and no connection. The balance of a day follows
-- from its transactions, or is the last value that was stated (investments, property).
alter table account
	add institution_name text,
	add balance_method text not null default 'transactions' check (balance_method in ('transactions', 'valuations')),
	add closed_on date,
	add merged_into uuid references account (id);
update account set balance_method = 'valuations' where type = 'investment';
create index account_merged on account (merged_into) where merged_into is not null;
