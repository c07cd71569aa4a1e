-- +goose Up

-- The one row about this household's database itself.
create table instance (
	id         boolean primary key default true check (id),
	cursor_key bytea not null default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'), -- signs cursors
	seal_check bytea, -- a known text sealed with the encryption key, so that a wrong key is noticed at the start
	created_at timestamptz not null default now()
);
insert into instance default values;

-- Everything that lets a caller in. A token's text is never stored, only its SHA-256; 256 random bits need no slow hash.
create table token (
	id                 uuid primary key,
	short_id           text not null constraint token_short_id unique,
	kind               text not null check (kind in ('api_key')),
	hash               bytea not null constraint token_hash unique, -- every request looks its key up by this
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
	revoked_at         timestamptz
);

-- Answers of calls that carried an Idempotency-Key, each written with its effect in one transaction.
create table idempotency (
	actor_id    uuid not null,
	key         text not null,
	fingerprint bytea not null,
	status      integer not null,
	etag        text not null,
	body        bytea not null, -- encrypted with what only the caller's credential yields
	created_at  timestamptz not null default now(),
	primary key (actor_id, key)
);
create index idempotency_created on idempotency (created_at); -- the sweep of answers past their window

-- Two levels: a primary has a kind and no parent, a child has a parent and takes its kind. The composite key lets the database refuse a third level.
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

-- Which of our categories a bank's own one becomes. A merge moves these rows like everything else that uses a category.
create table category_mapping (
	provider     text not null check (provider in ('plaid', 'teller')),
	raw_primary  text not null,
	raw_detailed text not null, -- '' where the provider has one level
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
