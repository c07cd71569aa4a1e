-- +goose Up

-- What the household has decided, in one row.
create table setting (
	id                            boolean primary key default true check (id),
	household_name                text not null default 'Household' check (household_name <> ''),
	default_currency              text not null default 'EUR' check (default_currency ~ '^[A-Z]{3}$'),
	time_zone                     text not null default 'UTC', -- a name of the IANA database, by which days and months begin
	default_sync_interval_seconds integer not null default 21600 check (default_sync_interval_seconds between 900 and 2592000),
	retention_days                integer check (retention_days between 30 and 3650), -- null is for ever
	updated_at                    timestamptz not null default now(),
	-- what agents may do
	monthly_ceiling_usd           numeric(12,2) check (monthly_ceiling_usd >= 0),
	writes_per_day                integer check (writes_per_day >= 0),
	quiet_from                    text check (quiet_from ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
	quiet_until                   text check (quiet_until ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
	agents_updated_at             timestamptz not null default now(),
	constraint setting_quiet check ((quiet_from is null) = (quiet_until is null))
);
insert into setting default values;

-- What was stored about data providers. Servers keep the providers that they made; the version tells them when to make one anew.
create table provider_setting (
	provider     text primary key check (provider in ('plaid', 'teller')),
	fields       bytea, -- sealed; null where nothing is stored
	version      bigint not null default 0,
	tested_at    timestamptz,
	test_code    text, -- OK, or what the provider answered
	test_message text
);

-- Where models are asked, and what they cost.
create table model_setting (
	provider   text primary key check (provider in ('anthropic', 'openai_compatible')),
	base_url   text,
	key        bytea, -- sealed
	prices     jsonb not null default '[]',
	updated_at timestamptz not null default now()
);

-- How many transactions were changed on a day, by the key that did it; the row of all agents together has no key's id but zeros.
create table write_budget (
	key_id uuid not null,
	day    date not null,
	used   bigint not null,
	primary key (key_id, day)
);
create index write_budget_day on write_budget (day); -- the sweep of days gone by
