-- +goose Up

-- Two accounts of which one repeats the other, or between which money moves. One record for two accounts, whatever came of it: what was rejected or deleted is not proposed again.
create table account_link (
	id         uuid primary key,
	short_id   text not null constraint account_link_short_id unique,
	primary_id uuid not null references account (id) on delete cascade,
	mirror_id  uuid not null references account (id) on delete cascade,
	kind       text not null check (kind in ('mirror', 'transfer')),
	confidence text not null check (confidence in ('auto', 'confirmed', 'rejected')),
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	deleted_at timestamptz,
	check (primary_id <> mirror_id)
);
create unique index account_link_pair on account_link (least(primary_id, mirror_id), greatest(primary_id, mirror_id)); -- once for two accounts

-- Two transactions that belong together. What it counts for follows from its own verdict and from its link's.
create table link_match (
	id              uuid primary key,
	short_id        text not null constraint link_match_short_id unique,
	account_link_id uuid not null references account_link (id) on delete cascade,
	primary_id      uuid not null references transaction (id) on delete cascade,
	mirror_id       uuid not null references transaction (id) on delete cascade,
	verdict         text check (verdict in ('confirmed', 'rejected')), -- what somebody said of this very pair
	broken          boolean not null default false, -- one of the two is deleted or has changed; it comes back with it
	day_difference  integer not null,
	created_at      timestamptz not null default now(),
	constraint link_match_pair unique (account_link_id, primary_id, mirror_id)
);
create index link_match_primary on link_match (primary_id); -- what links make of a transaction
create index link_match_mirror on link_match (mirror_id);

-- Which days of which accounts have changed since somebody looked for pairs. What is stored already has never been looked at; it is read before the table is closed.
create table touched (
	id         bigint generated always as identity primary key,
	account_id uuid not null references account (id) on delete cascade,
	first      date not null,
	last       date not null
);
insert into touched (account_id, first, last) select account_id, min(date), max(date) from transaction group by account_id;

alter table transaction add column transfer boolean not null default false; -- a side of a confirmed transfer, so totals skip it
alter table transaction drop constraint transaction_linked_id_fkey;
alter table transaction add constraint transaction_linked foreign key (linked_id) references transaction (id) on delete set null;
create index transaction_linked_id on transaction (linked_id) where linked_id is not null; -- when a transaction goes for good
