-- +goose Up

-- An invitation lets its member set a sign-in method; a replacement lets one who came with a password
-- that somebody else had set choose another.
alter table ticket drop constraint ticket_kind_check,
	add constraint ticket_kind_check check (kind in ('setup', 'passkey', 'oidc', 'invite', 'replace'));
create unique index ticket_invite on ticket (member_id) where kind = 'invite'; -- one invitation per member

-- Whether a password was set by somebody else than its member, and opens nothing but its replacement.
alter table login add must_replace boolean not null default false;
