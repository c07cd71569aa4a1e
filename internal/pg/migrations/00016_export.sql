-- +goose Up

-- Files that someone asked for and will fetch once. What opens the link is known only to who asked; here is its SHA-256.
create table export (
	id         uuid primary key,
	format     text not null check (format in ('archive', 'csv', 'hledger', 'beancount')),
	token_hash bytea not null constraint export_token unique,
	bytes      bigint not null default 0,
	created_at timestamptz not null default now(),
	expires_at timestamptz, -- null until the file is whole
	taken_at   timestamptz
);
create index export_created on export (created_at); -- the sweep of old ones

-- Their content in pieces, so that any server can give them out and none holds a file in memory.
create table export_part (
	export_id uuid not null references export (id) on delete cascade,
	number    integer not null,
	content   bytea not null,
	primary key (export_id, number)
);
alter table export_part alter column content set storage external; -- it is compressed already
