-- +goose Up

-- What people and agents wrote for the household to read.
create table report (
	id          uuid primary key,
	short_id    text not null constraint report_short_id unique,
	title       text not null check (title <> ''),
	body        text not null, -- Markdown
	kind        text not null,
	author_type text not null check (author_type in ('user', 'agent', 'system')),
	author_id   uuid,
	read_at     timestamptz,
	created_at  timestamptz not null default now()
);
create index report_unread on report (id) where read_at is null; -- how many wait to be read
