-- +goose Up

-- When, and by which way in, the member of a session proved who they are: for some things a session that was left open is not enough. Null is an issuer's word of unknown age.
alter table token add column proved_at timestamptz;
alter table token add column proved_by text check (proved_by in ('password', 'passkey', 'oidc', 'recovery'));
update token set proved_at = created_at where kind = 'session';
alter table token add constraint token_proved check (kind = 'session' or proved_at is null and proved_by is null);

-- Codes to get in with when every other way is lost. Each is good once; a used one is revoked.
alter table token drop constraint token_kind;
alter table token add constraint token_kind check (kind in ('api_key', 'session', 'access', 'refresh', 'recovery'));

-- An assistant changes no more in a day than an agent's key does.
alter table consent add column max_writes_per_day integer not null default 2000 check (max_writes_per_day >= 0);
