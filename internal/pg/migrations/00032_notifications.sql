-- +goose Up

-- ==== notify: endpoints, notifications, deliveries ====

-- Where notifications are sent. The secret signs them; after a rotation the former one signs too,
-- until old_until.
create table endpoint (
	id              uuid primary key,
	short_id        text not null constraint endpoint_short_id unique,
	url             text not null,
	description     text,
	events          text[] not null default '{}', -- types; none means all
	content         text not null default 'lean' check (content in ('lean', 'full')),
	enabled         boolean not null default true,
	disabled_reason text check (disabled_reason in ('gone', 'failing')),
	given_up        integer not null default 0, -- messages in a row that were given up
	secret          bytea not null, -- sealed
	old_secret      bytea, -- sealed
	old_until       timestamptz,
	last_success_at timestamptz,
	created_at      timestamptz not null default now(),
	updated_at      timestamptz not null default now()
);

-- What happened, written by the transaction that made it happen.
create table notification (
	id            uuid primary key,
	short_id      text not null constraint notification_short_id unique,
	type          text not null check (type ~ '^[a-z_]+\.[a-z_]+$'),
	subject       text not null, -- what it is told of once
	data          jsonb not null,
	full_data     jsonb not null default '{}', -- added for endpoints that take bank text
	connection_id uuid references connection (id) on delete cascade,
	account_id    uuid references account (id) on delete cascade,
	created_at    timestamptz not null default clock_timestamp(),
	constraint notification_subject unique (type, subject)
);
create index notification_created on notification (created_at); -- the sweep of old notifications
create index notification_connection on notification (connection_id); -- is a connection referred to
create index notification_account on notification (account_id); -- is an account referred to

-- A notification on its way to an endpoint. next_at is when it is due; while a server sends it, when
-- another server may take it over.
create table delivery (
	id              uuid primary key,
	notification_id uuid not null references notification (id) on delete cascade,
	endpoint_id     uuid not null references endpoint (id) on delete cascade,
	state           text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
	attempts        integer not null default 0,
	next_at         timestamptz,
	claim           uuid, -- of the server that sends it
	last_attempt_at timestamptz,
	last_status     integer,
	last_error      text,
	delivered_at    timestamptz,
	constraint delivery_once unique (notification_id, endpoint_id),
	check ((state = 'pending') = (next_at is not null))
);
create index delivery_due on delivery (next_at) where next_at is not null; -- what is to be sent
create index delivery_endpoint on delivery (endpoint_id); -- the deliveries of an endpoint that is disabled or deleted
create trigger delivery_wakes after insert on delivery for each statement execute function wake('notify');
create trigger delivery_again after update on delivery
	for each row when (new.next_at is not null and (old.next_at is null or new.next_at < old.next_at))
	execute function wake('notify');
