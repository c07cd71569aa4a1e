-- +goose Up

-- What an API key is limited to: with 'add' it may only add transactions.
alter table token add only_may text[] not null default '{}'
	constraint token_only check (only_may <@ array['add'] and (only_may = '{}' or kind = 'api_key' and may = '{}'));

-- A calendar link lets a calendar app read upcoming payments; with amounts only if its maker asked
-- for that. As an API key it may have no owner.
alter table token add amounts boolean not null default false,
	drop constraint token_kind,
	add constraint token_kind check (kind in ('api_key', 'session', 'access', 'refresh', 'recovery', 'calendar')),
	drop constraint token_member,
	add constraint token_member check (kind in ('api_key', 'calendar') or member_id is not null),
	add constraint token_amounts check (kind = 'calendar' or not amounts);
