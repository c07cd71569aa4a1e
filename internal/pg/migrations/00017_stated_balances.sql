-- +goose Up

-- Who stated a balance: the provider, a statement or a person. A day can have one of each. An exact
-- one is the close of its day, any other a moment within it. set_by is what set a manual one: 'user'
-- holds it against agents.
alter table account_balance
	add source text not null default 'provider' check (source in ('provider', 'statement', 'manual')),
	add exact boolean not null default false,
	add stated_at timestamptz not null default now(),
	add set_by text check (set_by in ('user', 'agent', 'rule'));
alter table account_balance drop constraint account_balance_pkey, add primary key (account_id, day, source);
