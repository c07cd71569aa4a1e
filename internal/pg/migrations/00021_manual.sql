-- +goose Up

-- Who set the amount, day and texts of a transaction that was entered by hand. What a person set is
-- held: agents leave it.
create table manual_field (
	transaction_id uuid not null references transaction (id) on delete cascade,
	field          text not null check (field in ('amount', 'date', 'name', 'merchant_name', 'detail')),
	source         text not null check (source in ('user', 'agent', 'rule')),
	primary key (transaction_id, field)
);

-- A transaction that was entered by hand and the bank's own record of the same payment. Of a pair that
-- is matched, only the bank's counts. A pair that was parted, or whose match was reverted, is never
-- matched again without being asked for. The source 'rule' says that nobody decided: it follows from
-- the transactions.
create table manual_match (
	manual_id uuid not null references transaction (id) on delete cascade,
	bank_id   uuid not null references transaction (id) on delete cascade,
	state     text not null check (state in ('matched', 'parted', 'undone')),
	source    text check (source in ('user', 'agent', 'rule')),
	primary key (manual_id, bank_id)
);
create unique index manual_match_manual on manual_match (manual_id) where state = 'matched';
create unique index manual_match_bank on manual_match (bank_id) where state = 'matched';
create index manual_match_bank_id on manual_match (bank_id); -- the foreign key's check when a transaction is erased

-- From a page of the bank's to what was entered by hand around those days.
create index transaction_manual on transaction (account_id, date) where origin = 'manual' and deleted_at is null;
