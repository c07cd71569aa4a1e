-- +goose Up

-- The household's own exchange rates: one unit of currency is worth rate units of quoted, from that day
-- on until the next rate of the two.
create table rate (
	id         uuid primary key,
	short_id   text not null constraint rate_short_id unique,
	currency   text not null check (currency ~ '^[A-Z]{3}$'),
	quoted     text not null check (quoted ~ '^[A-Z]{3}$' and quoted <> currency),
	day        date not null,
	rate       numeric(18,9) not null check (rate > 0),
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	constraint rate_of_day unique (currency, quoted, day)
);

-- What the proof of an account's books said when it was last made. It is older than the books if a row
-- of proof_due names the account. gap_after and gap_until are the days around each gap.
create table proof (
	account_id         uuid primary key references account (id) on delete cascade,
	status             text not null check (status in ('proved', 'gap', 'open', 'none')),
	proved_from        date,
	proved_until       date,
	largest_difference numeric(18,2),
	gap_after          date[] not null,
	gap_until          date[] not null,
	made_at            timestamptz not null default clock_timestamp()
);

-- Accounts whose books changed. Writers only append: they never wait for each other here. A proof takes
-- away the rows that it has seen. Without a foreign key, because that would lock the account.
create table proof_due (
	account_id uuid not null,
	at         timestamptz not null default clock_timestamp()
);
create trigger proof_due_wakes after insert on proof_due for each statement execute function wake('proof');

-- +goose StatementBegin
create function proofs_due() returns trigger language plpgsql as $$
begin
	insert into proof_due (account_id) select distinct account_id from changed;
	return null;
end $$;
-- +goose StatementEnd
-- +goose StatementBegin
create function proof_due() returns trigger language plpgsql as $$
begin
	insert into proof_due (account_id) select distinct u from unnest(array[new.account_id, old.account_id]) u;
	return null;
end $$;
-- +goose StatementEnd
-- +goose StatementBegin
create function account_proof_due() returns trigger language plpgsql as $$
begin
	insert into proof_due (account_id) values (new.id);
	return null;
end $$;
-- +goose StatementEnd

create trigger transaction_added after insert on transaction
	referencing new table as changed for each statement execute function proofs_due();
create trigger transaction_erased after delete on transaction
	referencing old table as changed for each statement execute function proofs_due();
-- For each row, because only such a trigger costs nothing when other columns are updated.
create trigger transaction_moved after update of account_id, date, authorized_date, amount, currency, pending,
	deleted_at, origin, linked_id on transaction
	for each row when ((old.account_id, old.date, old.authorized_date, old.amount, old.currency, old.pending,
			old.deleted_at is null, old.origin) is distinct from
		(new.account_id, new.date, new.authorized_date, new.amount, new.currency, new.pending,
			new.deleted_at is null, new.origin)
		or new.origin = 'manual' and (old.linked_id is null) <> (new.linked_id is null))
	execute function proof_due();
create trigger balance_added after insert on account_balance
	referencing new table as changed for each statement execute function proofs_due();
create trigger balance_changed after update on account_balance
	referencing new table as changed for each statement execute function proofs_due();
create trigger balance_removed after delete on account_balance
	referencing old table as changed for each statement execute function proofs_due();
create trigger account_judged_otherwise after update of type, currency, balance_method on account
	for each row when ((old.type, old.currency, old.balance_method)
		is distinct from (new.type, new.currency, new.balance_method))
	execute function account_proof_due();
create trigger account_added after insert on account for each row execute function account_proof_due();

insert into proof_due (account_id) select id from account;
