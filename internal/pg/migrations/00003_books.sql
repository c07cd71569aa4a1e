-- +goose Up

create extension if not exists pg_trgm;

-- The people of the household.
create table member (
	id         uuid primary key,
	short_id   text not null constraint member_short_id unique,
	name       text not null check (name <> ''),
	email      text,
	role       text not null check (role in ('admin', 'member', 'viewer')),
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	deleted_at timestamptz
);
create unique index member_email on member (lower(email)) where deleted_at is null; -- one live member per address

insert into member (id, short_id, name, role) values ('019a3c5e-4000-7000-8000-000000000001', '00000001', 'Household', 'admin');

-- A link to a bank, or a bucket for files.
create table connection (
	id                     uuid primary key,
	short_id               text not null constraint connection_short_id unique,
	member_id              uuid not null references member (id),
	provider               text not null check (provider in ('plaid', 'teller', 'csv')),
	institution_name       text,
	institution_id         text,
	status                 text not null default 'active' check (status in ('active', 'error', 'pending_reauth', 'disconnected')),
	status_reason          text,
	status_message         text,
	paused                 boolean not null default false,
	sync_interval_seconds  integer,
	new_accounts_available boolean not null default false,
	consent_expires_at     timestamptz,
	last_attempt_at        timestamptz,
	last_sync_at           timestamptz,
	next_sync_at           timestamptz,
	created_at             timestamptz not null default now(),
	updated_at             timestamptz not null default now()
);
create index connection_member on connection (member_id); -- does a member own connections; transactions of a member

create table account (
	id                uuid primary key,
	short_id          text not null constraint account_short_id unique,
	connection_id     uuid references connection (id),
	provider          text not null check (provider in ('plaid', 'teller', 'csv')),
	provider_id       text not null,
	owner_id          uuid references member (id), -- overrides the connection's member
	name              text not null,
	display_name      text,
	official_name     text,
	type              text not null check (type in ('depository', 'credit', 'loan', 'investment', 'other')),
	subtype           text,
	mask              text,
	currency          text not null check (currency ~ '^[A-Z]{3}$'),
	balance_current   numeric(12,2),
	balance_available numeric(12,2),
	balance_limit     numeric(12,2),
	balance_as_of     timestamptz,
	hidden            boolean not null default false,
	created_at        timestamptz not null default now(),
	updated_at        timestamptz not null default now(),
	constraint account_identity unique (connection_id, provider_id)
);

-- One row a day, so that net worth over time is a read.
create table account_balance (
	account_id uuid not null references account (id),
	day        date not null,
	current    numeric(12,2),
	available  numeric(12,2),
	primary key (account_id, day)
);

-- The other side of a charge.
create table counterparty (
	id           uuid primary key,
	short_id     text not null constraint counterparty_short_id unique,
	name         text not null check (name <> ''),
	website_url  text,
	logo_url     text,
	category_id  uuid references category (id),
	mcc          text,
	canonical_id uuid references counterparty (id), -- since a merge
	created_at   timestamptz not null default now(),
	updated_at   timestamptz not null default now(),
	deleted_at   timestamptz
);
create unique index counterparty_name on counterparty (lower(name)) where deleted_at is null; -- find or make by name, once; a merged one keeps its name and leads on to the one that took over
create index counterparty_category on counterparty (category_id); -- what a merge of categories moves

-- What a bank wrote, once: some thousand wordings stand behind a million transactions. Searches look here first, and changing a transaction touches no text index.
create table descriptor (
	id            integer generated always as identity primary key,
	name          text not null,
	merchant_name text not null, -- '' where the bank gives none
	constraint descriptor_wording unique (name, merchant_name)
);
create index descriptor_text on descriptor using gin (lower(name || e'\n' || merchant_name) gin_trgm_ops); -- contains, words, fuzzy

create table transaction (
	id                  uuid primary key,
	short_id            text not null constraint transaction_short_id unique,
	account_id          uuid not null references account (id),
	provider_id         text not null,
	date                date not null,
	authorized_date     date,
	datetime            timestamptz,
	amount              numeric(12,2) not null, -- positive is money out
	currency            text not null check (currency ~ '^[A-Z]{3}$'),
	descriptor_id       integer not null references descriptor (id),
	category_primary    text, -- the provider's own, never rewritten
	category_detailed   text,
	payment_channel     text,
	pending             boolean not null default false,
	category_id         uuid references category (id),
	category_source     text check (category_source in ('rule', 'user', 'agent', 'provider')), -- 'user' holds the field against rules and agents
	counterparty_id     uuid references counterparty (id),
	counterparty_source text check (counterparty_source in ('rule', 'user', 'agent')),
	linked_id           uuid references transaction (id),
	excluded            boolean not null default false,
	created_at          timestamptz not null default now(),
	updated_at          timestamptz not null default now(),
	deleted_at          timestamptz,
	deleted_source      text check (deleted_source in ('user', 'agent', 'provider', 'rule')), -- a person's tombstone is sticky
	constraint transaction_identity unique (account_id, provider_id)
);
create index transaction_date on transaction (date desc, id desc) where deleted_at is null; -- the list; date ranges
create index transaction_account on transaction (account_id, date desc, id desc) where deleted_at is null; -- the list of an account
create index transaction_category on transaction (category_id, date desc, id desc) where deleted_at is null; -- the list and count of a category
create index transaction_descriptor on transaction (descriptor_id, date desc, id desc) where deleted_at is null; -- from a wording to its transactions
create index transaction_counterparty on transaction (counterparty_id, date desc, id desc) where deleted_at is null and counterparty_id is not null; -- the list of a counterparty
create index transaction_updated on transaction (updated_at); -- updated_since
create index transaction_deleted on transaction (date desc, id desc) where deleted_at is not null; -- the list of deleted ones
create statistics transaction_groups (ndistinct) on category_id, currency, account_id, (date_trunc('month', date::timestamp)) from transaction; -- totals by month: without it the planner expects as many groups as days, and sorts where it should hash

-- A tag that someone put on a transaction, or took off: what a person removed stays known, so that no rule puts it back.
create table transaction_tag (
	transaction_id uuid not null references transaction (id),
	tag_id         uuid not null references tag (id),
	present        boolean not null,
	source         text not null check (source in ('rule', 'user', 'agent')),
	primary key (transaction_id, tag_id)
);
create index transaction_tag_tag on transaction_tag (tag_id, transaction_id) where present; -- the list of a tag

-- What was done: one call, one sync run, one import, one rule application each.
create table change (
	id           uuid primary key, -- sorts by time: the list
	short_id     text not null constraint change_short_id unique,
	cause        text not null check (cause in ('api', 'tool', 'rule', 'sync', 'import', 'workflow_run', 'revert')),
	summary      text not null,
	actor_type   text not null check (actor_type in ('user', 'agent', 'system')),
	actor_id     uuid,
	actor_name   text not null,
	transactions integer not null,
	entries      integer not null,
	reverts      uuid constraint change_reverted_once unique references change (id),
	created_at   timestamptz not null default now()
);

-- What a change did to one field of one subject. Ids follow the order in which a field was written, because its writer holds the subject's row.
create table entry (
	id            bigint generated always as identity primary key,
	change_id     uuid not null references change (id),
	subject       text not null check (subject in ('transaction', 'rule', 'tag', 'category', 'counterparty')),
	subject_id    uuid not null,
	field         text not null,
	ref           uuid, -- which tag, which comment
	before        text,
	after         text,
	before_source text,
	after_source  text,
	rule_id       uuid,
	note          text
);
create index entry_change on entry (change_id); -- what a revert undoes
create index entry_subject on entry (subject_id, field, ref, id); -- a transaction's annotations; was a field touched since

create table comment (
	id             uuid primary key,
	short_id       text not null constraint comment_short_id unique,
	transaction_id uuid not null references transaction (id),
	content        text not null check (content <> ''),
	author_type    text not null check (author_type in ('user', 'agent', 'system')),
	author_id      uuid,
	author_name    text not null,
	created_at     timestamptz not null default now(),
	updated_at     timestamptz not null default now(),
	deleted_at     timestamptz
);
create index comment_transaction on comment (transaction_id, id) where deleted_at is null; -- comments of a transaction, and their count
