-- +goose Up

-- Recurring payments, as package pattern finds them: the transactions of one account that come back
-- with a cadence. What is found is computed again whenever its transactions change; state and name are
-- what the household says of it. A series that somebody decided about stays when nothing supports it
-- any more.
create table recurring (
	id             uuid primary key,
	short_id       text not null constraint recurring_short_id unique,
	account_id     uuid not null references account (id) on delete cascade,
	currency       text not null,
	direction      text not null check (direction in ('in', 'out')),
	cadence        text not null check (cadence in ('weekly', 'fortnightly', 'monthly', 'quarterly', 'half_yearly', 'yearly')),
	party          bigint not null, -- the counterparty, else the payee, as a key
	forms          bigint[] not null, -- of its wordings, in their order
	fixed          boolean not null, -- it has one price at a time
	amount         numeric(12,2) not null, -- positive is money out
	first_date     date not null,
	last_date      date not null,
	last_id        uuid references transaction (id) on delete set null, -- the newest transaction
	next_date      date not null,
	occurrences    integer not null,
	sure           boolean not null, -- it is long and regular
	price_changes  jsonb not null default '[]', -- oldest first
	found          boolean not null default true, -- transactions support it
	seed_id        uuid references transaction (id) on delete set null, -- the transaction from which somebody taught it
	state          text not null default 'auto' check (state in ('auto', 'confirmed', 'dismissed')),
	name           text,
	source         text check (source in ('user', 'agent', 'rule')), -- who decided; 'user': held
	created_at     timestamptz not null default now(),
	updated_at     timestamptz not null default now(),
	deleted_at     timestamptz -- somebody taught it, and that was reverted
);
create index recurring_account on recurring (account_id); -- what a sweep compares with
create index recurring_last on recurring (last_id) where last_id is not null; -- a transaction that is erased
create index recurring_seed on recurring (seed_id) where seed_id is not null; -- a transaction that is erased

create table recurring_row (
	transaction_id uuid primary key references transaction (id) on delete cascade,
	recurring_id   uuid not null references recurring (id) on delete cascade
);
create index recurring_row_series on recurring_row (recurring_id); -- a series' transactions

-- The accounts and forms of which a transaction is new, has changed or is deleted: the next sweep looks
-- at them again. It has no foreign key, because that would cost every sync a look at the account for
-- each form.
create table form_due (
	id         bigint generated always as identity primary key,
	account_id uuid not null,
	form       bigint not null,
	noted_at   timestamptz not null default clock_timestamp()
);

-- Statements that write transactions note what they touch. A trigger does it, so that no writer can
-- forget it. Transactions are erased only with their account, which takes its series along.
-- +goose StatementBegin
create function note_new_forms() returns trigger language plpgsql as $$
begin
	insert into form_due (account_id, form)
	select distinct t.account_id, d.form from fresh t join descriptor d on d.id = t.descriptor_id
	where d.form is not null and not t.pending and t.origin <> 'part';
	return null;
end $$;
-- +goose StatementEnd
-- +goose StatementBegin
create function note_changed_forms() returns trigger language plpgsql as $$
begin
	insert into form_due (account_id, form)
	select distinct x.account_id, d.form
	from gone o join fresh n on n.id = o.id,
		lateral (values (o.account_id, o.descriptor_id), (n.account_id, n.descriptor_id)) x (account_id, descriptor_id)
		join descriptor d on d.id = x.descriptor_id
	where (o.account_id, o.date, o.amount, o.currency, o.descriptor_id, o.pending, o.counterparty_id, o.excluded,
			o.transfer, o.deleted_at is null, o.origin)
		is distinct from (n.account_id, n.date, n.amount, n.currency, n.descriptor_id, n.pending, n.counterparty_id,
			n.excluded, n.transfer, n.deleted_at is null, n.origin)
		and d.form is not null;
	return null;
end $$;
-- +goose StatementEnd
create trigger transaction_new after insert on transaction referencing new table as fresh
	for each statement execute function note_new_forms();
create trigger transaction_changed after update on transaction referencing old table as gone new table as fresh
	for each statement execute function note_changed_forms();

insert into form_due (account_id, form)
select distinct t.account_id, d.form from transaction t join descriptor d on d.id = t.descriptor_id
where d.form is not null and t.deleted_at is null;
