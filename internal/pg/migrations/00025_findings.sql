-- +goose Up

-- What the household says of findings: what package pattern sees in the transactions and would like
-- somebody to look at. Findings are computed whenever somebody asks; only a decision is stored. The id
-- follows from what the finding is about, so it is the same each time.
create table finding (
	id         uuid primary key,
	short_id   text not null constraint finding_short_id unique,
	account_id uuid not null references account (id) on delete cascade,
	kind       text not null check (kind ~ '^[a-z_]+$'),
	state      text not null check (state in ('open', 'dismissed')),
	source     text check (source in ('user', 'agent', 'rule')), -- who decided; 'user': held
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	deleted_at timestamptz -- the first decision was reverted
);
create index finding_account on finding (account_id); -- an account that is erased
