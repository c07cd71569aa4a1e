-- +goose Up

-- Programs that ask members for access to /mcp. One registered itself, or says who it is in a document at the address that is its name.
create table client (
	id            uuid primary key,
	name          text not null constraint client_name unique, -- the client_id: random, or the address of the document
	kind          text not null check (kind in ('registered', 'document')),
	title         text not null, -- how it calls itself
	redirect_uris text[] not null,
	created_at    timestamptz not null default now(),
	fresh_until   timestamptz, -- a document is read again after this
	constraint client_fresh check ((kind = 'document') = (fresh_until is not null))
);
create index client_created on client (created_at); -- the sweep of those that nobody let in

-- What a member granted a program: first a code that is good once and soon, then the family of tokens that came of it.
-- Whatever is used twice ends the whole family, so that who stole a part of it has nothing for long.
create table consent (
	id              uuid primary key,
	short_id        text not null constraint consent_short_id unique,
	member_id       uuid not null references member (id) on delete cascade,
	client_id       uuid not null references client (id),
	scope           text not null check (scope in ('read_only', 'full_access')),
	resource        text not null, -- the address that the tokens are for
	redirect_uri    text not null,
	code_hash       bytea not null constraint consent_code unique,
	challenge       text not null, -- SHA-256 of what only the program knows that asked
	code_expires_at timestamptz not null,
	redeemed_at     timestamptz,
	refreshed_at    timestamptz,
	revoked_at      timestamptz,
	created_at      timestamptz not null default now()
);
create index consent_of_member on consent (member_id, id); -- a member's consents: listed, and ended together
create index consent_of_client on consent (client_id); -- whether a program is still let in

alter table token add column consent_id uuid references consent (id) on delete cascade;
alter table token add constraint token_consent check ((kind in ('access', 'refresh')) = (consent_id is not null));
create index token_of_consent on token (consent_id) where consent_id is not null; -- a family ends as a whole
create index token_expires on token (expires_at) where kind in ('access', 'refresh'); -- the sweep
