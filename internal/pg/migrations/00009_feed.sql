-- +goose Up

alter table connection
	add column credentials          bytea, -- sealed; gone once the connection is disconnected
	add column provider_id          text,  -- what the provider calls the connection, by which its webhooks name it
	add column cursor               text not null default '', -- how far the last whole loop of a sync came
	add column consecutive_failures integer not null default 0;
create unique index connection_provider_id on connection (provider, provider_id) where provider_id is not null; -- from a webhook to its connection
create index connection_due on connection (next_sync_at) where status in ('active', 'error') and not paused; -- what is due

-- One run of a sync, from the first page to the last or to what stopped it.
create table sync_log (
	id            uuid primary key,
	short_id      text not null constraint sync_log_short_id unique,
	connection_id uuid not null references connection (id),
	trigger       text not null check (trigger in ('schedule', 'webhook', 'manual', 'initial', 'replay', 'import')),
	status        text not null default 'running' check (status in ('running', 'success', 'error', 'cancelled')),
	added         bigint not null default 0,
	modified      bigint not null default 0,
	removed       bigint not null default 0,
	unchanged     bigint not null default 0,
	rules_applied bigint not null default 0,
	quarantined   bigint not null default 0,
	pages         bigint not null default 0,
	error_code    text,
	error_message text,
	job_id        uuid not null,
	change_id     uuid references change (id),
	started_at    timestamptz not null default now(),
	finished_at   timestamptz
);
create index sync_log_connection on sync_log (connection_id, id desc); -- the last syncs of a connection

-- Rows of a bank that could not be read. They are kept as they came, sealed, until someone retries or drops them.
create table quarantine (
	id            uuid primary key,
	short_id      text not null constraint quarantine_short_id unique,
	connection_id uuid not null references connection (id),
	account_id    uuid references account (id),
	provider_id   text not null, -- '' where the row has none
	reason        text not null,
	raw           bytea, -- sealed
	first_seen_at timestamptz not null default now(),
	last_seen_at  timestamptz not null default now()
);
create unique index quarantine_row on quarantine (connection_id, provider_id, reason) where provider_id <> ''; -- the same row of every sync, once

-- How the last file of a connection was read, so that the next one is read alike.
alter table connection add column csv_options jsonb;

-- Files on their way in: what a job reads once and then drops.
create table upload (
	id         uuid primary key,
	content    bytea not null,
	created_at timestamptz not null default now()
);
create index upload_created on upload (created_at); -- what a job never took
