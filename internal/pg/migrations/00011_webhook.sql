-- +goose Up

alter table job add column again jsonb; -- what shall run when this one has ended: arguments, priority and who asked

-- What providers told us, each event once. The body itself is not kept: its hash is, and what the effect needs.
create table webhook_event (
	id            uuid primary key,
	short_id      text not null constraint webhook_event_short_id unique,
	provider      text not null check (provider in ('plaid', 'teller')),
	identity      text not null, -- the same for a delivery and its repetitions
	event_type    text not null,
	effect        text not null, -- what it asks for, in the words of package bank
	connection_id uuid references connection (id), -- null where it names none that we have
	about         text not null, -- what the provider calls that connection
	account       text not null, -- what the provider calls the account, '' for none
	code          text not null,
	advice        text not null,
	session       bytea, -- the provider's name of a link session, sealed: whoever has it can look at the session
	expires_at    timestamptz,
	payload_hash  text not null, -- SHA-256 of the body
	status        text not null default 'received' check (status in ('received', 'processed', 'error')),
	error_message text not null default '',
	created_at    timestamptz not null default now(),
	processed_at  timestamptz,
	constraint webhook_event_identity unique (provider, identity) -- a repetition finds its event
);
create index webhook_event_created on webhook_event (created_at); -- the sweep of old ones
create index webhook_event_waiting on webhook_event (created_at) where status = 'received'; -- those whose job gave up
create index webhook_event_connection on webhook_event (connection_id); -- is a connection referred to
