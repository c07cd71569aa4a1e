-- +goose Up

-- Sessions of members stand beside the keys, and so will tokens of assistants: one table to look a caller up in, to list, and to revoke from.
-- A token with a member never does more than its scope and that member's role both allow.
alter table token add column member_id uuid references member (id) on delete cascade;
alter table token drop constraint token_kind_check;
alter table token add constraint token_kind check (kind in ('api_key', 'session', 'access', 'refresh'));
alter table token add constraint token_member check (kind = 'api_key' or member_id is not null);
create index token_of_member on token (member_id, id) where member_id is not null; -- a member's sessions: listed, and ended together

-- The ways in of a member. What is stored proves a login and can never make one.
create table login (
	id           uuid primary key,
	short_id     text not null constraint login_short_id unique,
	member_id    uuid not null references member (id) on delete cascade,
	kind         text not null check (kind in ('password', 'passkey', 'oidc')),
	identifier   text not null check (identifier <> ''), -- an e-mail address, a passkey's label, or issuer and subject
	proof        text, -- a password's hash as a PHC string, or a passkey's public key with its counter; an issuer vouches itself
	credential   bytea, -- a passkey's own id
	last_used_at timestamptz,
	created_at   timestamptz not null default now(),
	updated_at   timestamptz not null default now(),
	constraint login_proof check ((kind = 'oidc') = (proof is null)),
	constraint login_credential check ((kind = 'passkey') = (credential is not null))
);
create unique index login_one_password on login (member_id) where kind = 'password'; -- a member has one password
create unique index login_password on login (lower(identifier)) where kind = 'password'; -- who signs in with this address
create unique index login_oidc on login (identifier) where kind = 'oidc'; -- whom this issuer's subject is
create unique index login_passkey on login (credential) where kind = 'passkey'; -- whose passkey this is
create index login_of_member on login (member_id, id); -- a member's ways in

-- How often someone tried, for all servers together. Losing it in a crash costs nothing, so it is not logged.
create unlogged table attempt (
	bucket     text primary key,
	tries      integer not null,
	free_at    timestamptz not null, -- when the next one is heard
	expires_at timestamptz not null -- when all is forgotten
);
create index attempt_expires on attempt (expires_at); -- the sweep

-- What may be used once and soon: a link to set the household up, the challenge of a passkey, the state of a sign-in elsewhere.
create table ticket (
	hash       bytea primary key,
	kind       text not null check (kind in ('setup', 'passkey', 'oidc')),
	member_id  uuid references member (id) on delete cascade,
	data       bytea not null default '',
	created_at timestamptz not null default now(),
	expires_at timestamptz not null
);
create index ticket_expires on ticket (expires_at); -- the sweep

-- Programs that ask for a key through the device grant. The key itself is made when it is fetched, so that none waits here.
create table device (
	id         uuid primary key,
	hash       bytea not null constraint device_hash unique, -- of the device code
	user_code  text not null constraint device_user_code unique,
	client     text not null,
	scope      text not null check (scope in ('read_only', 'full_access')), -- what it asks for, then what it was granted
	address    text not null,
	state      text not null default 'pending' check (state in ('pending', 'approved', 'denied', 'used')),
	member_id  uuid references member (id) on delete cascade, -- who decided
	pause      integer not null default 5, -- seconds between two polls
	polled_at  timestamptz,
	created_at timestamptz not null default now(),
	expires_at timestamptz not null
);
create index device_expires on device (expires_at); -- the sweep
