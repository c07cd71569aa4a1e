-- +goose Up

-- The schema of the first release, grouped by the package that owns a table: only the owner writes
-- it, others may read it (internal/archtest, owners). Later groups refer to earlier ones.
--
-- Conventions: ids are UUIDv7 made by servers; short_id is the short form that people and agents see
-- and follows from the id. A record that users can delete has deleted_at: the row stays as a
-- tombstone, so that the deletion can be reverted. Money is numeric(12,2) with its currency beside
-- it. Columns called "sealed" are encrypted with COFFER_ENCRYPTION_KEY. The comment after an index
-- names the query that needs it.

create extension if not exists pg_trgm;


-- ==== platform/pg: the database itself ====

-- Servers sleep until their next timed work is due (package due). Triggers with this function wake
-- them when a row brings that time forward; the argument is the name of the work.
-- +goose StatementBegin
create function wake() returns trigger language plpgsql as $$
begin
	perform pg_notify('coffer', tg_argv[0]); -- once in a transaction for each name
	return null;
end $$;
-- +goose StatementEnd

-- One row about this installation.
create table instance (
	id         boolean primary key default true check (id),
	-- Signs cursors, so that a caller cannot make one up.
	cursor_key bytea not null default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
	-- A known text sealed with the encryption key, so that a wrong key is noticed at the start.
	seal_check bytea,
	created_at timestamptz not null default now()
);


-- ==== platform/op: calls ====

-- Responses to calls that carried an Idempotency-Key. Each is written in the same transaction as the
-- call's effect.
create table idempotency (
	actor_id    uuid not null,
	key         text not null,
	fingerprint bytea not null,
	status      integer not null,
	etag        text not null,
	body        bytea not null, -- encrypted with a key derived from the caller's credential
	created_at  timestamptz not null default now(),
	change_id   uuid, -- the change that the call recorded, so that a repeated call reports it too
	primary key (actor_id, key)
);
create index idempotency_created on idempotency (created_at); -- the sweep of expired responses


-- ==== people/auth: members, sign-in methods and credentials ====

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

-- Sign-in methods. The stored proof can verify a sign-in but cannot be used to make one.
create table login (
	id           uuid primary key,
	short_id     text not null constraint login_short_id unique,
	member_id    uuid not null references member (id) on delete cascade,
	kind         text not null check (kind in ('password', 'passkey', 'oidc')),
	-- The email address of a password, the label of a passkey, or an OIDC issuer and subject.
	identifier   text not null check (identifier <> ''),
	-- A password's hash as a PHC string, or a passkey's public key with its counter. An OIDC identity
	-- has none, because its issuer vouches for it.
	proof        text,
	credential   bytea, -- a passkey's credential id
	last_used_at timestamptz,
	created_at   timestamptz not null default now(),
	updated_at   timestamptz not null default now(),
	-- Somebody else than the member set the password: it opens nothing but its replacement.
	must_replace boolean not null default false,
	constraint login_proof check ((kind = 'oidc') = (proof is null)),
	constraint login_credential check ((kind = 'passkey') = (credential is not null))
);
create unique index login_one_password on login (member_id) where kind = 'password'; -- a member has one password
create unique index login_password on login (lower(identifier)) where kind = 'password'; -- sign-in by address
create unique index login_oidc on login (identifier) where kind = 'oidc'; -- sign-in by issuer and subject
create unique index login_passkey on login (credential) where kind = 'passkey'; -- sign-in by passkey
create index login_of_member on login (member_id, id); -- a member's sign-in methods

-- Sign-in attempts, counted for all servers together. Losing the counts in a crash costs nothing, so
-- the table is unlogged.
create unlogged table attempt (
	bucket     text primary key,
	tries      integer not null,
	free_at    timestamptz not null, -- the next attempt is allowed from here on
	expires_at timestamptz not null  -- the count starts over
);
create index attempt_expires on attempt (expires_at); -- the sweep

-- Short-lived secrets that can be used once: a setup link, a passkey's challenge, the state of a
-- sign-in at an OIDC issuer. An invitation lets its member set a sign-in method; a replacement lets
-- one who came with a password that somebody else had set choose another.
create table ticket (
	hash       bytea primary key,
	kind       text not null check (kind in ('setup', 'passkey', 'oidc', 'invite', 'replace')),
	member_id  uuid references member (id) on delete cascade,
	data       bytea not null default '',
	created_at timestamptz not null default now(),
	expires_at timestamptz not null
);
create index ticket_expires on ticket (expires_at); -- the sweep
create unique index ticket_invite on ticket (member_id) where kind = 'invite'; -- one invitation per member

-- Programs that ask for an API key through the device grant. The key is made when the program
-- fetches it, so no key is stored here.
create table device (
	id         uuid primary key,
	hash       bytea not null constraint device_hash unique, -- SHA-256 of the device code
	user_code  text not null constraint device_user_code unique,
	client     text not null,
	scope      text not null check (scope in ('read_only', 'full_access')), -- requested, then granted
	address    text not null,
	state      text not null default 'pending' check (state in ('pending', 'approved', 'denied', 'used')),
	member_id  uuid references member (id) on delete cascade, -- who decided
	pause      integer not null default 5, -- seconds between two polls
	polled_at  timestamptz,
	created_at timestamptz not null default now(),
	expires_at timestamptz not null
);
create index device_expires on device (expires_at); -- the sweep

-- OAuth clients that ask members for access to /mcp. A client registers itself, or its client_id is
-- the address of a document that describes it.
create table client (
	id            uuid primary key,
	name          text not null constraint client_name unique, -- the client_id: random, or the document's address
	kind          text not null check (kind in ('registered', 'document')),
	title         text not null, -- the name that the client gives itself
	redirect_uris text[] not null,
	created_at    timestamptz not null default now(),
	fresh_until   timestamptz, -- the document is fetched again after this
	constraint client_fresh check ((kind = 'document') = (fresh_until is not null))
);
create index client_created on client (created_at); -- the sweep of clients without a consent

-- What a member granted a client: first a code that works once and expires soon, then the family of
-- tokens issued for it. Using a code or a refresh token twice revokes the whole family, so a stolen
-- one is not useful for long.
create table consent (
	id                 uuid primary key,
	short_id           text not null constraint consent_short_id unique,
	member_id          uuid not null references member (id) on delete cascade,
	client_id          uuid not null references client (id),
	scope              text not null check (scope in ('read_only', 'full_access')),
	resource           text not null, -- the address that the tokens are for
	redirect_uri       text not null,
	code_hash          bytea not null constraint consent_code unique,
	challenge          text not null, -- PKCE: SHA-256 of a secret that only the client knows
	code_expires_at    timestamptz not null,
	redeemed_at        timestamptz,
	refreshed_at       timestamptz,
	revoked_at         timestamptz,
	created_at         timestamptz not null default now(),
	-- An assistant has a daily write budget, as an agent's API key does.
	max_writes_per_day integer not null default 2000 check (max_writes_per_day >= 0)
);
create index consent_of_member on consent (member_id, id); -- a member's consents: listed, and revoked together
create index consent_of_client on consent (client_id); -- whether a client still has a consent

-- Every credential of a caller: API keys, sessions, OAuth tokens and recovery codes. They share a
-- table, so there is one place to look a caller up, to list credentials and to revoke them. Only the
-- SHA-256 of a token is stored; 256 random bits need no slow hash.
-- A token with a member never does more than its scope and that member's role both allow.
-- A calendar link lets a calendar app read upcoming payments. As an API key it may have no owner.
create table token (
	id                 uuid primary key,
	short_id           text not null constraint token_short_id unique,
	-- A recovery code signs a member in when every other method is lost. It works once; a used one is
	-- revoked.
	kind               text not null
		constraint token_kind check (kind in ('api_key', 'session', 'access', 'refresh', 'recovery', 'calendar')),
	hash               bytea not null constraint token_hash unique, -- every request looks its credential up by this
	prefix             text not null,
	name               text not null,
	scope              text not null check (scope in ('read_only', 'full_access')),
	actor_type         text not null check (actor_type in ('user', 'agent', 'system')),
	actor_name         text,
	max_writes_per_day integer,
	created_at         timestamptz not null default now(),
	updated_at         timestamptz not null default now(),
	last_used_at       timestamptz,
	expires_at         timestamptz,
	revoked_at         timestamptz,
	member_id          uuid references member (id) on delete cascade,
	consent_id         uuid references consent (id) on delete cascade,
	-- When, and by which method, the member of a session last proved who they are. Some operations
	-- require a recent proof, because a session may have been left open. Null: the OIDC issuer did not
	-- say when the member signed in.
	proved_at          timestamptz,
	proved_by          text check (proved_by in ('password', 'passkey', 'oidc', 'recovery')),
	-- Rights that a person gave an API key beyond its scope. An agent's key with 'administer' may make
	-- calls that are otherwise for people.
	may                text[] not null default '{}',
	-- What an API key is limited to: with 'add' it may only add transactions.
	only_may           text[] not null default '{}'
		constraint token_only check (only_may <@ array['add'] and (only_may = '{}' or kind = 'api_key' and may = '{}')),
	amounts            boolean not null default false, -- a calendar link shows amounts, because its maker asked for that
	constraint token_member check (kind in ('api_key', 'calendar') or member_id is not null),
	constraint token_consent check ((kind in ('access', 'refresh')) = (consent_id is not null)),
	constraint token_proved check (kind = 'session' or proved_at is null and proved_by is null),
	constraint token_may check (may <@ array['administer'] and (kind = 'api_key' or may = '{}')),
	constraint token_amounts check (kind = 'calendar' or not amounts)
);
create index token_of_member on token (member_id, id) where member_id is not null; -- a member's sessions: listed, and ended together
create index token_of_consent on token (consent_id) where consent_id is not null; -- a family is revoked as a whole
create index token_expires on token (expires_at) where kind in ('access', 'refresh'); -- the sweep


-- ==== settings ====

-- The household's settings, in one row.
create table setting (
	id                            boolean primary key default true check (id),
	household_name                text not null default 'Household' check (household_name <> ''),
	default_currency              text not null default 'EUR' check (default_currency ~ '^[A-Z]{3}$'),
	time_zone                     text not null default 'UTC', -- an IANA name; days and months begin by it
	default_sync_interval_seconds integer not null default 21600 check (default_sync_interval_seconds between 900 and 2592000),
	retention_days                integer check (retention_days between 30 and 3650), -- null: forever
	updated_at                    timestamptz not null default now(),
	-- The rest limits agents.
	monthly_ceiling_usd           numeric(12,2) check (monthly_ceiling_usd >= 0),
	writes_per_day                integer check (writes_per_day >= 0),
	quiet_from                    text check (quiet_from ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
	quiet_until                   text check (quiet_until ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
	agents_updated_at             timestamptz not null default now(),
	-- With from_link the review rule tags an account's transactions from the day on which it is linked.
	review_history                text not null default 'all' check (review_history in ('all', 'from_link')),
	-- The model of workflows that name none, and how long transcripts of their runs are kept.
	default_provider              text check (default_provider in ('anthropic', 'openai_compatible')),
	default_model                 text check (default_model <> ''),
	transcript_days               integer not null default 90 check (transcript_days between 1 and 3650),
	-- When banks are asked for current balances, which may cost money.
	paid_balances                 text not null default 'manual' check (paid_balances in ('manual', 'daily', 'never')),
	-- Agents only propose rules: theirs are stored disabled, and a person enables them.
	propose_rules                 boolean not null default false,
	-- The amount, by currency, from which a charge is worth a notification; the hour, and the number of
	-- transactions, from which those that wait for review are.
	large_charge                  jsonb not null default '[]',
	review_digest_hour            smallint check (review_digest_hour between 0 and 23),
	review_digest_min             integer check (review_digest_min >= 1),
	constraint setting_quiet check ((quiet_from is null) = (quiet_until is null)),
	constraint setting_default_model check ((default_provider is null) = (default_model is null)),
	constraint setting_review_digest check ((review_digest_hour is null) = (review_digest_min is null))
);

-- Configuration of data providers. Servers keep a client per provider in memory; the version tells
-- them when to make a new one.
create table provider_setting (
	provider     text primary key,
	fields       bytea, -- sealed; null if nothing is stored
	version      bigint not null default 0,
	tested_at    timestamptz,
	test_code    text, -- OK, or the provider's error
	test_message text
);

-- Model providers and their prices. The version is as in provider_setting.
create table model_setting (
	provider   text primary key check (provider in ('anthropic', 'openai_compatible')),
	base_url   text,
	key        bytea, -- sealed
	prices     jsonb not null default '[]',
	updated_at timestamptz not null default now(),
	version    bigint not null default 1
);

-- The backups that were made of this database, for the overview, monitors and the server that makes
-- the next one. A restored database begins without rows.
create table backup (
	id          bigint primary key generated always as identity,
	as_of       timestamptz not null, -- the moment that it shows
	made_at     timestamptz not null default clock_timestamp(),
	bytes       bigint not null check (bytes >= 0),
	scheduled   boolean not null, -- made by serve, not by a command
	verified_at timestamptz, -- when it was last read back; null for one that went into a pipe
	overdue_at  timestamptz not null -- when the next one is overdue, if none is made before
);
create index backup_made on backup (made_at); -- the newest


-- ==== platform/job: long work ====

-- A job: what was asked, by whom, how far it is and its result. The table is also the queue.
create table job (
	id               uuid primary key,
	short_id         text not null constraint job_short_id unique,
	kind             text not null check (kind <> ''),
	state            text not null default 'queued' check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
	unique_key       text, -- a live job of the same kind and key is joined instead of made again
	priority         smallint not null check (priority between 1 and 4),
	args             jsonb not null,
	position         jsonb, -- where an interrupted run continues
	done             bigint not null default 0,
	total            bigint,
	unit             text not null,
	result           jsonb,
	error_code       text,
	error_message    text,
	actor_type       text not null check (actor_type in ('user', 'agent', 'system')),
	actor_id         uuid,
	actor_name       text not null,
	actor_scope      smallint not null,
	actor_key        uuid,
	cancel_requested boolean not null default false,
	attempt          integer not null default 0, -- how often a worker took the job
	failures         integer not null default 0, -- failed runs since the last progress
	losses           integer not null default 0, -- workers that vanished since the last progress
	run_at           timestamptz not null default now(), -- not before
	lease_owner      text,
	-- The fence: it grows whenever the lease changes hands, so a former holder cannot write any more.
	lease_number     bigint not null default 0,
	renewed_at       timestamptz,
	created_at       timestamptz not null default now(),
	started_at       timestamptz,
	finished_at      timestamptz,
	again            jsonb, -- runs when this job has ended: arguments, priority and who asked
	actor_run        uuid, -- the workflow run that asked for it, so that what the job writes is the run's
	constraint job_leased check (state <> 'running' or lease_owner is not null and renewed_at is not null),
	constraint job_ended check ((state in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null))
);
create unique index job_live on job (kind, unique_key) where state in ('queued', 'running'); -- one live job per key
create index job_running on job (renewed_at) where state = 'running'; -- expired leases
create index job_queued on job (run_at) where state = 'queued'; -- due jobs
create index job_finished on job (finished_at) where finished_at is not null; -- the sweep of old jobs

create trigger job_wakes after insert or update of state on job
	for each row when (new.state = 'queued') execute function wake('job');


-- ==== books/category: categories and tags ====

-- Categories have two levels. A primary has a kind and no parent; a child has a parent and takes its
-- kind. The composite key lets the database reject a third level.
create table category (
	id                uuid primary key,
	short_id          text not null constraint category_short_id unique,
	slug              text not null,
	display_name      text not null check (display_name <> ''),
	parent_id         uuid,
	is_primary        boolean not null generated always as (parent_id is null) stored,
	parent_is_primary boolean not null default true check (parent_is_primary),
	kind              text check (kind in ('income', 'expense', 'transfer')),
	icon              text not null default '',
	color             text not null default '',
	sort_order        integer not null default 0,
	is_system         boolean not null default false,
	hidden            boolean not null default false,
	created_at        timestamptz not null default now(),
	updated_at        timestamptz not null default now(),
	deleted_at        timestamptz,
	constraint category_level unique (id, is_primary),
	constraint category_parent foreign key (parent_id, parent_is_primary) references category (id, is_primary),
	constraint category_kind check ((parent_id is null) = (kind is not null)),
	constraint category_not_its_own_parent check (parent_id <> id)
);
create unique index category_slug on category (slug) where deleted_at is null; -- one live category per slug; look-ups by slug
create index category_children on category (parent_id) where deleted_at is null; -- does a primary have children

-- Which category a provider's own category becomes. A merge of categories moves these rows too.
create table category_mapping (
	provider     text not null,
	raw_primary  text not null,
	raw_detailed text not null, -- '' if the provider has one level
	category_id  uuid not null references category (id),
	primary key (provider, raw_primary, raw_detailed)
);
create index category_mapping_category on category_mapping (category_id); -- what a merge moves

create table tag (
	id           uuid primary key,
	short_id     text not null constraint tag_short_id unique,
	slug         text not null,
	display_name text not null check (display_name <> ''),
	description  text not null default '',
	color        text not null default '',
	icon         text not null default '',
	is_system    boolean not null default false,
	created_at   timestamptz not null default now(),
	updated_at   timestamptz not null default now(),
	deleted_at   timestamptz
);
create unique index tag_slug on tag (slug) where deleted_at is null; -- one live tag per slug; look-ups by slug


-- ==== connections/connection: connections (syncs are below, after the journal) ====

-- A link to a bank through a provider, or the place that imported files belong to.
create table connection (
	id                     uuid primary key,
	short_id               text not null constraint connection_short_id unique,
	member_id              uuid not null references member (id),
	provider               text not null,
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
	updated_at             timestamptz not null default now(),
	credentials            bytea, -- sealed; deleted when the connection is disconnected
	provider_id            text,  -- the provider's id of the connection, by which its webhooks name it
	cursor                 text not null default '', -- the provider's cursor after the last complete sync
	consecutive_failures   integer not null default 0,
	-- How the last file was read, so that the next one is read the same way: the options of its format,
	-- the format's name and the currency of rows that state none.
	statement_options      jsonb,
	balances_asked_at      timestamptz, -- when the bank was last asked for balances; only the server that writes it may ask
	-- One token may open several banks. Each has a state of its own: [{id, name, status, reason, message,
	-- accounts: [the provider's ids]}]. Empty where a connection is one bank.
	banks                  jsonb not null default '[]',
	-- When the provider was asked in the last 24 hours, where it counts requests.
	asked_at               timestamptz[] not null default '{}'
);
create index connection_member on connection (member_id); -- does a member own connections; transactions of a member
create unique index connection_provider_id on connection (provider, provider_id) where provider_id is not null; -- from a webhook to its connection
create index connection_due on connection (next_sync_at) where status in ('active', 'error') and not paused; -- due syncs
create trigger connection_wakes after insert or update of next_sync_at, status, paused on connection
	for each row when (new.next_sync_at is not null and not new.paused) execute function wake('feed.sync');


-- ==== books/account: accounts, balances and their proofs ====

-- An account that no bank keeps has the provider 'manual' and no connection.
create table account (
	id                uuid primary key,
	short_id          text not null constraint account_short_id unique,
	connection_id     uuid references connection (id),
	provider          text not null,
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
	-- Reverting an import deletes the account that it made, unless something else is on it. The account
	-- becomes a tombstone because its transactions are tombstones.
	deleted_at        timestamptz,
	-- The fields that a person set; agents leave them.
	held              text[] not null default '{}' check (held <@ array['display_name', 'hidden', 'owner', 'name',
		'iso_currency_code', 'institution_name', 'type', 'subtype', 'balance_method', 'closed_on']),
	review_from       date, -- the first day whose transactions the review rule tags; null: all of them
	institution_name  text,
	-- The balance of a day follows from the transactions, or is the last value that was stated
	-- (investments, property).
	balance_method    text not null default 'transactions' check (balance_method in ('transactions', 'valuations')),
	closed_on         date,
	merged_into       uuid references account (id) on delete set null,
	low_balance       numeric(12,2), -- below it the balance is low
	low_since         timestamptz, -- null until the balance is low, and again once it is a tenth above
	-- The provider does not say what kind of account it is: the type was guessed, and balances come as
	-- money in the account, debts negative.
	guessed           boolean not null default false,
	constraint account_identity unique (connection_id, provider_id),
	constraint account_merged_is_gone check (merged_into is null or deleted_at is not null)
);
create index account_merged on account (merged_into) where merged_into is not null; -- the accounts that were merged into one

-- Balances that the provider, a statement or a person stated; a day can have one of each. So net worth
-- over time is a plain read.
create table account_balance (
	account_id uuid not null references account (id),
	day        date not null,
	current    numeric(12,2),
	available  numeric(12,2),
	source     text not null default 'provider' check (source in ('provider', 'statement', 'manual')),
	exact      boolean not null default false, -- the close of its day; otherwise a moment within it
	stated_at  timestamptz not null default now(),
	set_by     text check (set_by in ('user', 'agent', 'rule')), -- of a manual one; 'user': held
	-- Of a statement's balance: every row that was booked after this day, and up to the day of the
	-- balance, is in the statement. So if rows do not explain how the balance moved since then, one is
	-- missing; if they do not explain a longer time, there may only be no statement of it.
	since      date,
	primary key (account_id, day, source)
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


-- ==== books/analytics: exchange rates ====

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


-- ==== books/counterparty: counterparties ====

-- The other side of a transaction.
create table counterparty (
	id           uuid primary key,
	short_id     text not null constraint counterparty_short_id unique,
	name         text not null check (name <> ''),
	website_url  text,
	logo_url     text,
	category_id  uuid references category (id),
	mcc          text,
	canonical_id uuid references counterparty (id), -- the counterparty that this one was merged into
	created_at   timestamptz not null default now(),
	updated_at   timestamptz not null default now(),
	deleted_at   timestamptz
);
-- Find or make by name. A merged counterparty keeps its name and leads to the one that replaced it.
create unique index counterparty_name on counterparty (lower(name)) where deleted_at is null;
create index counterparty_category on counterparty (category_id); -- what a merge of categories moves


-- ==== books/ledger: transactions ====

-- A distinct text of a bank, stored once: a few thousand wordings serve a million transactions.
-- Searches look here first, and changing a transaction touches no text index.
create table descriptor (
	id            integer generated always as identity primary key,
	name          text not null,
	merchant_name text not null, -- '' if the bank gives none
	-- The texts folded by Go (text.Fold), with line breaks between them; the third line is there only if
	-- there is a memo. PostgreSQL's lower() depends on the database's locale; Go's folding is the same
	-- everywhere.
	folded        text not null,
	-- What groups the wordings of one payee: text.Form of the name, and of the merchant name if there is
	-- one. Go computes both; an archive of a development version may lack them, and a start fills them in.
	form          bigint,
	payee         bigint,
	detail        text not null default '' -- the memo; '' if the bank gives none
);
create index descriptor_form on descriptor (form); -- recurring payments
create index descriptor_payee on descriptor (payee, id); -- from a payee to its newest wordings: it can have ten thousands
-- One row per wording. The memo is a digest here, because an index has no room for three long texts.
create unique index descriptor_worded on descriptor (name, merchant_name, md5(detail));
create index descriptor_folded on descriptor using gin (folded gin_trgm_ops); -- searches: contains, words, fuzzy

-- A transaction comes from the bank (also by a statement), from a person who entered it, or from the
-- split of another, whose parts are transactions of their own. One that is split is not counted itself.
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
	category_primary    text, -- the provider's category, never rewritten
	category_detailed   text,
	payment_channel     text,
	pending             boolean not null default false,
	category_id         uuid references category (id),
	category_source     text check (category_source in ('rule', 'user', 'agent', 'provider')), -- 'user': held
	counterparty_id     uuid references counterparty (id),
	counterparty_source text check (counterparty_source in ('rule', 'user', 'agent')),
	linked_id           uuid constraint transaction_linked references transaction (id) on delete set null,
	excluded            boolean not null default false,
	created_at          timestamptz not null default now(),
	updated_at          timestamptz not null default now(),
	deleted_at          timestamptz,
	-- A transaction that a person deleted stays deleted when the bank sends it again.
	deleted_source      text check (deleted_source in ('user', 'agent', 'provider', 'rule')),
	transfer            boolean not null default false, -- a side of a confirmed transfer; totals skip it
	origin              text not null default 'bank' check (origin in ('bank', 'manual', 'part')),
	parent_id           uuid references transaction (id) on delete cascade, -- of a part
	is_split            boolean not null default false,
	remainder           boolean not null default false, -- the part that takes what the others leave
	split_source        text check (split_source in ('user', 'agent')), -- who split it; 'user': held
	-- The account from which it came, if its account was merged into another. The bank of the account
	-- that it is in now does not know it, so that nothing is concluded from its absence there.
	moved_from          uuid references account (id) on delete set null,
	-- Why somebody left it out of totals, and who did: what a person decided is held. The mark excluded is
	-- for duplicates, which follow from links and matches.
	excluded_reason     text check (excluded_reason in ('reimbursed', 'duplicate', 'other')),
	excluded_source     text check (excluded_source in ('user', 'agent')),
	refund_of           uuid constraint transaction_refund_of references transaction (id) on delete set null, -- the purchase of a confirmed refund
	constraint transaction_identity unique (account_id, provider_id),
	-- A part that is in no split any more is a tombstone, which a revert brings back.
	constraint transaction_part check (parent_id is not null or origin <> 'part' or deleted_at is not null)
);
create index transaction_date on transaction (date desc, id desc) where deleted_at is null; -- the list; date ranges
create index transaction_account on transaction (account_id, date desc, id desc) where deleted_at is null; -- the list of an account
create index transaction_category on transaction (category_id, date desc, id desc) where deleted_at is null; -- the list and count of a category
create index transaction_descriptor on transaction (descriptor_id, date desc, id desc) where deleted_at is null; -- from a wording to its transactions
create index transaction_counterparty on transaction (counterparty_id, date desc, id desc)
	where deleted_at is null and counterparty_id is not null; -- the list of a counterparty
create index transaction_updated on transaction (updated_at); -- updated_since
create index transaction_deleted on transaction (date desc, id desc) where deleted_at is not null; -- the list of deleted ones
create index transaction_linked_id on transaction (linked_id) where linked_id is not null; -- the foreign key's check when a transaction is erased
create index transaction_decided on transaction (descriptor_id, date desc)
	where category_source = 'user' and deleted_at is null; -- what people decided, by wording: little beside all transactions
create index transaction_uncategorized on transaction (date desc, id desc)
	where category_id is null and deleted_at is null and not pending and not excluded and not is_split; -- the overview's count
create index transaction_parent on transaction (parent_id) where parent_id is not null; -- the parts of a split
create index transaction_divided on transaction (descriptor_id, date) where is_split or origin = 'part'; -- taken off a count that an index alone gives
create index transaction_manual on transaction (account_id, date) where origin = 'manual' and deleted_at is null; -- from a page of the bank's to what was entered by hand around those days
create index transaction_moved_identity on transaction (moved_from, provider_id) where moved_from is not null; -- a file's rows that moved to another account
create index transaction_left_out on transaction (date) where excluded_reason is not null; -- notes count them
create index transaction_refunds on transaction (refund_of) where refund_of is not null; -- from a purchase to its refunds
-- Totals by month: without these statistics the planner expects as many groups as days, and sorts
-- where it should hash.
create statistics transaction_groups (ndistinct)
	on category_id, currency, account_id, (date_trunc('month', date::timestamp)) from transaction;

-- A tag that was added to a transaction, or removed from it. The removal by a person is stored, so
-- that no rule adds the tag again.
create table transaction_tag (
	transaction_id uuid not null references transaction (id),
	tag_id         uuid not null references tag (id),
	present        boolean not null,
	source         text not null check (source in ('rule', 'user', 'agent')),
	primary key (transaction_id, tag_id)
);
create index transaction_tag_tag on transaction_tag (tag_id, transaction_id) where present; -- the list of a tag

-- Former provider ids of a transaction. A pending transaction gets a new id when it posts, and a sync
-- that starts over may send the old one again.
create table transaction_alias (
	account_id     uuid not null references account (id),
	provider_id    text not null,
	transaction_id uuid not null references transaction (id),
	primary key (account_id, provider_id)
);
create index transaction_alias_transaction on transaction_alias (transaction_id); -- the foreign key's check when a transaction is erased

-- Who set the amount, day and texts of a transaction that was entered by hand. What a person set is
-- held: agents leave it.
create table manual_field (
	transaction_id uuid not null references transaction (id) on delete cascade,
	field          text not null check (field in ('amount', 'date', 'name', 'merchant_name', 'detail')),
	source         text not null check (source in ('user', 'agent', 'rule')),
	primary key (transaction_id, field)
);

-- The days of an account that have changed since the last search for linked pairs.
create table touched (
	id         bigint generated always as identity primary key,
	account_id uuid not null references account (id) on delete cascade,
	first      date not null,
	last       date not null
);

-- The accounts and forms of which a transaction is new, has changed or is deleted: the next sweep for
-- recurring payments looks at them again. Without a foreign key, because that would cost every sync a
-- look at the account for each form.
create table form_due (
	id         bigint generated always as identity primary key,
	account_id uuid not null,
	form       bigint not null,
	noted_at   timestamptz not null default clock_timestamp()
);

-- Transactions are shown with the names of accounts, their owners, categories and tags. These are few
-- and rarely change, so servers keep them in memory. The statement that reads transactions also reads
-- this version, and the server reads the names again if it differs. The version is random and not a
-- counter, so it is still right after a restore.
create table naming (
	single  boolean primary key default true check (single),
	version uuid not null
);

-- +goose StatementBegin
create function naming_changed() returns trigger language plpgsql as $$
begin
	update naming set version = gen_random_uuid() where xmin <> pg_current_xact_id()::xid; -- once in a transaction
	return null;
end $$;
-- +goose StatementEnd

-- Deferred to the commit: a transaction must not lock the one row while it waits for other locks.
create constraint trigger account_naming after insert or delete or update of name, display_name, provider, connection_id, owner_id on account
	deferrable initially deferred for each row execute function naming_changed();
create constraint trigger connection_naming after insert or delete or update of member_id on connection
	deferrable initially deferred for each row execute function naming_changed();
create constraint trigger member_naming after insert or delete or update of name on member
	deferrable initially deferred for each row execute function naming_changed();
create constraint trigger category_naming after insert or delete or update of slug, display_name, parent_id, deleted_at on category
	deferrable initially deferred for each row execute function naming_changed();
create constraint trigger tag_naming after insert or delete or update of slug, deleted_at on tag
	deferrable initially deferred for each row execute function naming_changed();


-- ==== books/journal: changes, comments and write budgets ====

-- A change: one call, one sync, one import or one application of a rule.
-- A change, its revert, the revert of that and so on are a family: each revert either undoes the root
-- or brings it back. A change can have more than one revert, because entries that a revert had to
-- leave may be free to go back later.
create table change (
	id            uuid primary key,
	short_id      text not null constraint change_short_id unique,
	cause         text not null check (cause in ('api', 'tool', 'rule', 'sync', 'import', 'workflow_run', 'revert')),
	summary       text not null,
	actor_type    text not null check (actor_type in ('user', 'agent', 'system')),
	actor_id      uuid,
	actor_name    text not null,
	transactions  integer not null,
	entries       integer not null,
	reverts       uuid references change (id),
	created_at    timestamptz not null default now(),
	root          uuid references change (id),    -- of a revert: the first change of the family
	round         integer not null default 0,     -- of a revert: its number in the family
	undoes        boolean not null default false, -- of a revert: it undoes the root
	-- The order in which changes happened. It is drawn while the writer holds the locks of all
	-- subjects of the change. Ids cannot tell the order: servers make them, and their clocks differ.
	seq           bigint not null generated always as identity,
	-- The wording of the payee, if all transactions of a change have the same one. Its text is not in
	-- the summary, so that it goes when the wording is erased.
	wording       integer,
	-- What the change did, as data: the action, the record or the kind of records that it is about, how
	-- many of them, and the ids of what it was done with, by name. Go derives these from the entries; an
	-- archive of a development version may lack them, and a start fills them in. Names are not stored:
	-- they are read when they are shown. No foreign keys, because records may be erased.
	action        text check (action ~ '^[a-z_]+$'),
	of_action     text, -- of a revert: the action that it undoes or does again
	subject_kind  text,
	subject_id    uuid,
	subject_count integer,
	refs          jsonb
);
create unique index change_seq on change (seq); -- the list
create index change_actor on change (actor_id, seq); -- what somebody did
create index change_created on change (created_at); -- the books as of a moment; changes of a time
create index change_action on change (action, seq); -- changes of one kind, newest first
create unique index change_family on change (root, round) where root is not null; -- the last of a family; two reverts at once
create index change_reverts on change (reverts) where reverts is not null; -- the foreign key's check when a change is erased

-- What a change did to one field of one subject. The ids follow the order in which a field was
-- written, because the writer holds the subject's row lock.
create table entry (
	id            bigint generated always as identity primary key,
	change_id     uuid not null references change (id),
	subject       text not null check (subject ~ '^[a-z_]+$'), -- the program knows all kinds
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
create index entry_subject on entry (subject_id, field, ref, id); -- a transaction's timeline; was a field touched since
create index entry_rule on entry (rule_id, change_id) where rule_id is not null; -- what a rule did

-- What a bank did to a transaction: it posted a pending one, or changed its data. These are facts and
-- not decisions, so reverts leave them and they are not entries. They share the entries' ids, which
-- order a transaction's timeline.
create table bank_event (
	id             bigint primary key default nextval(pg_get_serial_sequence('entry', 'id')),
	transaction_id uuid not null references transaction (id),
	action         text not null check (action in ('posted', 'updated')),
	before         text, -- the changed fields, as text
	after          text,
	created_at     timestamptz not null default now()
);
create index bank_event_transaction on bank_event (transaction_id, id); -- a transaction's timeline

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
create index comment_of_transaction on comment (transaction_id); -- the foreign key's check when a transaction is erased, deleted comments included

-- How many transactions an API key or assistant changed on a day. A key_id of zeros counts all agents
-- together.
create table write_budget (
	key_id uuid not null,
	day    date not null,
	used   bigint not null,
	primary key (key_id, day)
);
create index write_budget_day on write_budget (day); -- the sweep of past days


-- ==== books/accountlink: account links ====

-- Two accounts of which one mirrors the other, or between which money moves. There is one record for
-- two accounts whatever was decided: a link that was rejected or deleted is not proposed again.
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
	-- Who decided; agents leave what a person decided. A deleted link without a source was made by a
	-- call that was reverted, so its accounts may be proposed again.
	source     text check (source in ('user', 'agent', 'rule')),
	-- What the last sweep over the newest days saw: transactions that could be one side of a pair, those
	-- of them with exactly one other side, and those of them that agree in every respect.
	candidates integer,
	matched    integer,
	agreeing   integer,
	seen_until date,
	-- When coffer confirmed the link by itself, which it does once: somebody who undoes that is asked,
	-- and not overruled by the next sweep.
	decided_at timestamptz,
	check (primary_id <> mirror_id)
);
create unique index account_link_pair on account_link (least(primary_id, mirror_id), greatest(primary_id, mirror_id)); -- one link for two accounts

-- Two transactions that belong together. Whether the pair counts follows from its own verdict and
-- from its link's.
create table link_match (
	id              uuid primary key,
	short_id        text not null constraint link_match_short_id unique,
	account_link_id uuid not null references account_link (id) on delete cascade,
	primary_id      uuid not null references transaction (id) on delete cascade,
	mirror_id       uuid not null references transaction (id) on delete cascade,
	verdict         text check (verdict in ('confirmed', 'rejected')), -- on this pair alone
	-- One of the two was deleted or changed, so they no longer match; true only until they do again.
	broken          boolean not null default false,
	day_difference  integer not null,
	created_at      timestamptz not null default now(),
	source          text check (source in ('user', 'agent', 'rule')), -- whose verdict
	-- Something speaks against the pair: the category of one of the two, or a row of an account that
	-- nobody has linked. Then it counts only after somebody confirmed it, even if its link is confirmed.
	doubtful        boolean not null default false,
	constraint link_match_pair unique (account_link_id, primary_id, mirror_id)
);
create index link_match_primary on link_match (primary_id); -- the pairs of a transaction
create index link_match_mirror on link_match (mirror_id);
create index link_match_doubtful on link_match (account_link_id) where doubtful and verdict is null and not broken; -- those that wait


-- ==== books/manual: transactions that were entered by hand ====

-- A transaction that was entered by hand and the bank's own record of the same payment. Of a pair that
-- is matched, only the bank's counts. A pair that was parted, or whose match was reverted, is never
-- matched again without being asked for. The source 'rule' says that nobody decided: it follows from
-- the transactions.
create table manual_match (
	manual_id uuid not null references transaction (id) on delete cascade,
	bank_id   uuid not null references transaction (id) on delete cascade,
	state     text not null check (state in ('matched', 'parted', 'undone')),
	source    text check (source in ('user', 'agent', 'rule')),
	primary key (manual_id, bank_id)
);
create unique index manual_match_manual on manual_match (manual_id) where state = 'matched';
create unique index manual_match_bank on manual_match (bank_id) where state = 'matched';
create index manual_match_bank_id on manual_match (bank_id); -- the foreign key's check when a transaction is erased


-- ==== books/recurring: recurring payments ====

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
	deleted_at     timestamptz, -- somebody taught it, and that was reverted
	-- The day of the month on which it comes, so that what is due on the 31st is expected on 28 February
	-- and on 31 March. Null: it has none, such as a payment every 28 days.
	usual_day      smallint check (usual_day between 1 and 31),
	-- It goes between own accounts, by confirmed links: it moves the balances ahead and is in no total.
	transfer       boolean not null default false
);
create index recurring_account on recurring (account_id); -- what a sweep compares with
create index recurring_last on recurring (last_id) where last_id is not null; -- a transaction that is erased
create index recurring_seed on recurring (seed_id) where seed_id is not null; -- a transaction that is erased

create table recurring_row (
	transaction_id uuid primary key references transaction (id) on delete cascade,
	recurring_id   uuid not null references recurring (id) on delete cascade
);
create index recurring_row_series on recurring_row (recurring_id); -- a series' transactions

-- A row says that transactions changed since the last recount.
create table sighting_due (noted_at timestamptz not null default clock_timestamp());
create trigger sighting_due_wakes after insert on sighting_due for each statement execute function wake('finding');


-- ==== books/finding: findings ====

-- What the household says of findings: what package pattern sees in the transactions and would like
-- somebody to look at. Findings are computed whenever somebody asks; only a decision is stored. The id
-- follows from what the finding is about, so it is the same each time.
create table finding (
	id         uuid primary key,
	short_id   text not null constraint finding_short_id unique,
	account_id uuid not null references account (id) on delete cascade,
	kind       text not null check (kind ~ '^[a-z_]+$'),
	state      text not null check (state in ('open', 'dismissed', 'confirmed')),
	source     text check (source in ('user', 'agent', 'rule')), -- who decided; 'user': held
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	deleted_at timestamptz -- the first decision was reverted
);
create index finding_account on finding (account_id); -- an account that is erased

-- The findings among transactions of the last 90 days, as of the last recount: looking through a
-- million transactions for them takes half a second, which is too long for every overview. Lists of
-- findings do not read it.
create table sighting (
	id   uuid primary key, -- that of the finding
	kind text not null,
	day  date not null
);


-- ==== books/target: what the household means to spend on a category in a month ====

create table target (
	id          uuid primary key,
	short_id    text not null constraint target_short_id unique,
	category_id uuid not null references category (id),
	currency    text not null check (currency ~ '^[A-Z]{3}$'),
	amount      numeric(12,2) not null check (amount > 0),
	rollover    boolean not null default false,
	start_month date not null check (extract(day from start_month) = 1),
	end_month   date check (extract(day from end_month) = 1 and end_month >= start_month),
	created_at  timestamptz not null default now(),
	updated_at  timestamptz not null default now(),
	deleted_at  timestamptz
);
create unique index target_category on target (category_id, currency) where deleted_at is null;
create index target_moved on target (category_id); -- what a merge of categories moves


-- ==== books/savedview: saved views and preferences ====

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


-- ==== rules/rulebook: rules ====

-- What the household wants done with transactions as they arrive. The engine reads conditions and
-- actions.
create table rule (
	id              uuid primary key,
	short_id        text not null constraint rule_short_id unique,
	name            text not null check (name <> ''),
	conditions      jsonb not null,
	actions         jsonb not null check (jsonb_array_length(actions) > 0),
	trigger         text not null check (trigger in ('on_create', 'on_change', 'always')),
	priority        integer not null check (priority between 0 and 1000),
	enabled         boolean not null default true,
	expires_at      timestamptz, -- from then on the rule counts as disabled
	is_system       boolean not null default false,
	created_by_type text not null check (created_by_type in ('user', 'agent', 'system')),
	created_by_id   uuid,
	created_by_name text not null,
	created_at      timestamptz not null default now(),
	updated_at      timestamptz not null default now(),
	deleted_at      timestamptz,
	proposed        boolean not null default false, -- it waits for a person, and does nothing until then
	constraint rule_proposed_check check (not (proposed and enabled))
);
create index rule_order on rule (priority, created_at, id) where deleted_at is null; -- the pipeline; the list

-- One row. Every change of a rule replaces the version in its own transaction, so writers queue here,
-- and a compiled rule set is valid for one version. The version is random: a counter that is rolled
-- back would give the same number to different contents.
create table rulebook (
	id      boolean primary key default true check (id),
	version uuid not null default gen_random_uuid()
);

-- How often a rule matched in each sync. Every sync writes its own rows, so concurrent syncs never
-- wait for each other or for an edit of the rule; the counts are sums.
create table rule_hit (
	rule_id uuid not null references rule (id),
	run_id  uuid not null,
	hits    bigint not null,
	hit_at  timestamptz not null,
	primary key (rule_id, run_id)
);


-- ==== connections/connection: syncs ====

-- One sync or import, from the first page to the last or to the error that stopped it.
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
	finished_at   timestamptz,
	-- What an import was of: the account that the rows went into, and the file's name as the caller gave
	-- it. They are not in the summary of the import's change, so that they go when the log is erased.
	account_id    uuid references account (id),
	file_name     text
);
create index sync_log_connection on sync_log (connection_id, id desc); -- the last syncs of a connection
create index sync_log_account on sync_log (account_id) where account_id is not null; -- the foreign key's check when an account is erased
create index sync_log_running on sync_log (job_id) where status = 'running'; -- logs that their job left open
create index sync_log_change on sync_log (change_id) where change_id is not null; -- the foreign key's check when a change is erased

-- Rows of a provider that could not be read. They are kept as received, sealed, until someone retries
-- or drops them.
create table quarantine (
	id            uuid primary key,
	short_id      text not null constraint quarantine_short_id unique,
	connection_id uuid not null references connection (id),
	account_id    uuid references account (id),
	provider_id   text not null, -- '' if the row has none
	reason        text not null,
	raw           bytea, -- sealed
	first_seen_at timestamptz not null default now(),
	last_seen_at  timestamptz not null default now()
);
create unique index quarantine_row on quarantine (connection_id, provider_id, reason) where provider_id <> ''; -- the same row of every sync, once


-- ==== connections/statement: imports of files ====

-- Uploaded files that a job reads once and then deletes.
create table upload (
	id         uuid primary key,
	content    bytea not null,
	created_at timestamptz not null default now()
);
create index upload_created on upload (created_at); -- the sweep of files that no job read


-- ==== connections/linksession: link sessions ====

-- A member on the way through a bank's sign-in, to create a connection or to repair one.
create table link_session (
	id            uuid primary key,
	-- SHA-256 of the token, which opens the session's page and nothing else.
	token_hash    bytea not null constraint link_session_token unique,
	purpose       text not null check (purpose in ('new', 'reauth')),
	provider      text not null,
	member_id     uuid not null references member (id),
	connection_id uuid references connection (id), -- the connection to repair, or the one that was created
	-- SHA-256 of the provider's id of the session, by which its webhooks name it.
	provider_hash bytea not null,
	secret        bytea, -- sealed; deleted when the session ends
	hosted        boolean not null, -- on the provider's own page, so coffer must poll for the result
	redirect_url  text,
	state         text not null default 'pending' check (state in ('pending', 'done', 'failed')),
	error_code    text,
	error_message text,
	claimed_until timestamptz, -- a server is exchanging the provider's token
	look_at       timestamptz not null, -- when to check the session next
	created_at    timestamptz not null default now(),
	expires_at    timestamptz not null
);
create index link_session_provider on link_session (provider, provider_hash); -- from a webhook to its session
create index link_session_open on link_session (look_at) where state = 'pending'; -- sessions to check
create index link_session_member on link_session (member_id); -- is a member referred to
create index link_session_connection on link_session (connection_id); -- is a connection referred to
create index link_session_expiry on link_session (expires_at); -- the sweep
create trigger link_session_wakes after insert on link_session
	for each row execute function wake('linksession');


-- ==== connections/webhook: webhook events ====

-- Events that providers sent, each stored once. The body is not kept, only its hash and what the
-- effect needs.
create table webhook_event (
	id            uuid primary key,
	short_id      text not null constraint webhook_event_short_id unique,
	provider      text not null,
	identity      text not null, -- the same for a delivery and its repetitions
	event_type    text not null,
	effect        text not null, -- what the event asks for, in the words of package bank
	connection_id uuid references connection (id), -- null if the event names no known connection
	about         text not null, -- the provider's id of that connection
	account       text not null, -- the provider's id of the account, or ''
	code          text not null,
	advice        text not null,
	session       bytea, -- the provider's id of a link session, sealed: it gives access to the session
	expires_at    timestamptz,
	payload_hash  text not null, -- SHA-256 of the body
	status        text not null default 'received' check (status in ('received', 'processed', 'error')),
	error_message text not null default '',
	created_at    timestamptz not null default now(),
	processed_at  timestamptz,
	constraint webhook_event_identity unique (provider, identity) -- a repetition finds its event
);
create index webhook_event_created on webhook_event (created_at); -- the sweep of old events
create index webhook_event_waiting on webhook_event (created_at) where status = 'received'; -- events whose job gave up
create index webhook_event_connection on webhook_event (connection_id); -- is a connection referred to


-- ==== books/report: reports ====

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
	created_at  timestamptz not null default now(),
	deleted_at  timestamptz,
	updated_at  timestamptz not null default now()
);
create index report_unread on report (id) where read_at is null and deleted_at is null; -- the count of unread reports
create index report_agent on report (author_id, created_at) where author_type = 'agent'; -- how many an agent wrote today


-- ==== archive: exports ====

-- Exported files, each to be fetched once. Only the caller who asked can make the link's token; the
-- database has its SHA-256.
create table export (
	id         uuid primary key,
	format     text not null check (format in ('archive', 'csv', 'hledger', 'beancount')),
	token_hash bytea not null constraint export_token unique,
	bytes      bigint not null default 0,
	created_at timestamptz not null default now(),
	expires_at timestamptz, -- null until the file is complete
	taken_at   timestamptz,
	-- Who asked, as an identifier that is derived from the credential and does not reveal it. A caller
	-- has one file of each format.
	asker      text
);
create index export_created on export (created_at); -- the sweep of old exports
create index export_asker on export (asker, format); -- a caller's file of a format

-- The content of an export in pieces, so that any server can send it and none holds a file in memory.
create table export_part (
	export_id uuid not null references export (id) on delete cascade,
	number    integer not null,
	content   bytea not null,
	primary key (export_id, number)
);
alter table export_part alter column content set storage external; -- it is compressed already


-- ==== agents/workflow: agents of the household, their runs, plans and costs ====

-- A text that several workflows share. It stands before the prompt.
create table prompt_block (
	id         uuid primary key,
	short_id   text not null constraint prompt_block_short_id unique,
	slug       text not null constraint prompt_block_slug unique,
	title      text not null check (title <> ''),
	body       text not null check (body <> ''),
	is_system  boolean not null default false, -- shipped with coffer
	customized boolean not null default false, -- a person edited it; upgrades leave it
	shipped    text, -- hash of the shipped text that the row was last made from
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);

-- An agent that the household defined. Provider and model are null if the household's default is to
-- be used.
create table workflow (
	id              uuid primary key,
	short_id        text not null constraint workflow_short_id unique,
	slug            text not null constraint workflow_slug unique,
	name            text not null check (name <> ''),
	description     text not null,
	prompt          text not null check (prompt <> ''),
	prompt_blocks   text[] not null default '{}', -- slugs, in order
	provider        text check (provider in ('anthropic', 'openai_compatible')),
	model           text check (model <> ''),
	tools           text[] not null default '{}', -- empty: all that the scope allows
	scope           text not null check (scope in ('read_only', 'full_access')),
	trigger         text not null check (trigger in ('manual', 'schedule', 'after_sync')),
	schedule        text check (schedule <> ''), -- cron
	max_turns       integer not null default 30 check (max_turns between 1 and 200),
	max_cost_micros bigint check (max_cost_micros >= 0),
	max_writes      integer check (max_writes >= 0),
	max_minutes     integer not null default 30 check (max_minutes between 1 and 720),
	dry_run         boolean not null default true,
	makes_rules     boolean not null default false, -- it may create rules without a person's approval
	worklist        jsonb, -- it works through transactions in sheets; null: it holds a conversation
	report          text not null default 'none' check (report in ('none', 'message', 'server')),
	enabled         boolean not null default false,
	is_system       boolean not null default false, -- shipped with coffer
	customized      boolean not null default false, -- a person edited it; upgrades leave it
	shipped         text, -- hash of the shipped definition that the row was last made from
	version         bigint not null default 1,
	distrusted_at   timestamptz, -- when its record made coffer turn dry_run on again
	due_at          timestamptz, -- when it starts next by itself
	created_at      timestamptz not null default now(),
	updated_at      timestamptz not null default now(),
	constraint workflow_scheduled check ((trigger = 'schedule') = (schedule is not null))
);
create index workflow_due on workflow (due_at) where enabled and due_at is not null; -- what starts next

create trigger workflow_wakes after insert or update of due_at, enabled on workflow
	for each row when (new.enabled and new.due_at is not null) execute function wake('workflow');

-- A run of a workflow. Its id is also that of its job, and of the actor of its changes.
create table workflow_run (
	id                 uuid primary key,
	short_id           text not null constraint workflow_run_short_id unique,
	workflow_id        uuid references workflow (id) on delete set null,
	workflow_slug      text not null,
	trigger            text not null check (trigger in ('manual', 'schedule', 'after_sync', 'eval')),
	status             text not null default 'queued'
		check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'limit_reached')),
	mode               text not null default 'doing' check (mode in ('doing', 'planning')),
	definition         jsonb not null, -- as it was when the run was queued, with its blocks
	definition_hash    text not null, -- SHA-256, in hex
	max_writes         integer,
	turns              integer not null default 0,
	input_tokens       bigint not null default 0,
	cache_read_tokens  bigint not null default 0,
	cache_write_tokens bigint not null default 0,
	output_tokens      bigint not null default 0,
	cost_micros        bigint, -- null: a price was not known
	made               integer not null default 0, -- tags and counterparties that it created
	made_rules         integer not null default 0,
	left_open          integer not null default 0, -- transactions that it was not sure about
	bytes              bigint not null default 0, -- of its transcript
	limit_name         text, -- the limit that was reached
	plan_state         text not null default 'none' check (plan_state in ('none', 'waiting', 'applied', 'dropped')),
	report_id          uuid,
	result             jsonb, -- of an eval: its figures
	error_code         text,
	error_message      text,
	asked_type         text not null check (asked_type in ('user', 'agent', 'system')),
	asked_id           uuid,
	asked_name         text not null,
	created_at         timestamptz not null default now(),
	started_at         timestamptz,
	finished_at        timestamptz,
	constraint workflow_run_ended
		check ((status in ('succeeded', 'failed', 'cancelled', 'limit_reached')) = (finished_at is not null))
);
create unique index workflow_run_live on workflow_run (workflow_id)
	where status in ('queued', 'running') and trigger <> 'eval'; -- one run of a workflow at a time, on any number of servers
create index workflow_run_of on workflow_run (workflow_id, id); -- the runs of a workflow, newest first
create index workflow_run_plans on workflow_run (id) where plan_state = 'waiting'; -- plans that a person must look at

-- The transcript of a run: what was said, called, answered, counted. It is also the run's state.
create table workflow_line (
	run_id uuid not null references workflow_run (id) on delete cascade,
	seq    integer not null,
	at     timestamptz not null default clock_timestamp(),
	kind   text not null,
	body   jsonb not null,
	primary key (run_id, seq)
);

-- What a run planned: an entry of the journal that was rehearsed, or a call that is made when the
-- plan is applied.
create table workflow_plan (
	run_id        uuid not null references workflow_run (id) on delete cascade,
	seq           integer not null,
	tool          text not null,
	subject       text, -- null: a call
	subject_id    uuid,
	field         text,
	ref           uuid,
	before        text,
	after         text,
	before_source text,
	after_source  text,
	rule_id       uuid,
	note          text,
	seen          bigint, -- the newest entry about the field when it was rehearsed
	row           jsonb, -- the whole row of what the entry creates
	arguments     jsonb, -- of a call
	found         bigint, -- how many transactions a call's dry run found
	state         text not null default 'open' check (state in ('open', 'applied', 'skipped', 'excepted')),
	step          integer not null default 0, -- which call of the run it came from; entries of one call belong together
	primary key (run_id, seq),
	check ((subject is null) = (arguments is not null))
);

-- What a workflow left open, so that it is not paid for again until something about it changes.
create table workflow_seen (
	workflow_id    uuid not null references workflow (id) on delete cascade,
	transaction_id uuid not null references transaction (id) on delete cascade,
	state          bytea not null, -- hash of what was looked at
	at             timestamptz not null default now(),
	primary key (workflow_id, transaction_id)
);
create index workflow_seen_transaction on workflow_seen (transaction_id); -- the foreign key's check when a transaction is erased

-- A call of a model: what was reserved for it before, and what it cost.
create table model_call (
	id              uuid primary key,
	run_id          uuid not null references workflow_run (id) on delete cascade,
	turn            integer not null,
	state           text not null check (state in ('asking', 'answered', 'failed', 'lost')),
	provider        text not null,
	model           text not null,
	month           date not null, -- whose ceiling it counts against
	reserved_micros bigint, -- null: the price is not known and nothing limits it
	cost_micros     bigint,
	input_tokens    bigint,
	output_tokens   bigint,
	request_id      text,
	stop            text,
	asked_at        timestamptz not null default clock_timestamp(),
	ended_at        timestamptz
);
create index model_call_run on model_call (run_id, turn); -- the calls of a run
create index model_call_asking on model_call (run_id) where state = 'asking'; -- calls that a dead worker left

-- What models cost in a month of the household, and what is reserved for calls under way.
create table model_month (
	month           date primary key, -- its first day
	spent_micros    bigint not null default 0,
	reserved_micros bigint not null default 0,
	warned          integer not null default 0 -- per cent of the ceiling that were reported: 0, 80 or 100
);


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
	subject       text not null, -- what it reports once
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


