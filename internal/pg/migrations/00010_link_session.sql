-- +goose Up

-- A member on the way to a bank's sign-in: to link it, or to sign in again.
create table link_session (
	id            uuid primary key,
	token_hash    bytea not null constraint link_session_token unique, -- SHA-256 of the token, which opens the session's page and nothing else
	purpose       text not null check (purpose in ('new', 'reauth')),
	provider      text not null check (provider in ('plaid', 'teller')),
	member_id     uuid not null references member (id),
	connection_id uuid references connection (id), -- which signs in again; of a new one, what came of it
	provider_hash bytea not null, -- SHA-256 of the provider's name of the session, by which its webhooks name it
	secret        bytea, -- sealed; gone once the session has ended
	hosted        boolean not null, -- on the provider's own page, so that it must be asked how it went
	redirect_url  text,
	state         text not null default 'pending' check (state in ('pending', 'done', 'failed')),
	error_code    text,
	error_message text,
	claimed_until timestamptz, -- someone exchanges what the member gave
	look_at       timestamptz not null, -- when the session is to be looked after next
	created_at    timestamptz not null default now(),
	expires_at    timestamptz not null
);
create index link_session_provider on link_session (provider, provider_hash); -- from a webhook to its session
create index link_session_open on link_session (look_at) where state = 'pending'; -- what is to be looked after
create index link_session_member on link_session (member_id); -- is a member referred to
create index link_session_connection on link_session (connection_id); -- is a connection referred to
create index link_session_expiry on link_session (expires_at); -- what can be forgotten
