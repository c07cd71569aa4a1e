-- +goose Up

-- ==== view: saved views and preferences ====

-- A saved filter of the list of transactions. One without a member is shared by the household.
create table saved_view (
	id         uuid primary key,
	short_id   text not null constraint saved_view_short_id unique,
	name       text not null check (name <> ''),
	filters    jsonb not null,
	member_id  uuid references member (id),
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index saved_view_name on saved_view (member_id, lower(name)) nulls not distinct; -- one view per name; the list

-- How a member likes the app, as the app wrote it. Text, because nothing in the database reads it.
create table preference (
	member_id  uuid primary key references member (id),
	value      text not null,
	updated_at timestamptz not null default now()
);
