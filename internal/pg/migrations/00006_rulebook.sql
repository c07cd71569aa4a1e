-- +goose Up

-- What the household wants done with transactions as they come. The engine reads conditions and actions; hits are counted beside, so that a sync never waits for an edit.
create table rule (
	id              uuid primary key,
	short_id        text not null constraint rule_short_id unique,
	name            text not null check (name <> ''),
	conditions      jsonb not null,
	actions         jsonb not null check (jsonb_array_length(actions) > 0),
	trigger         text not null check (trigger in ('on_create', 'on_change', 'always')),
	priority        integer not null check (priority between 0 and 1000),
	enabled         boolean not null default true,
	expires_at      timestamptz, -- from then on it counts as disabled
	is_system       boolean not null default false,
	created_by_type text not null check (created_by_type in ('user', 'agent', 'system')),
	created_by_id   uuid,
	created_by_name text not null,
	created_at      timestamptz not null default now(),
	updated_at      timestamptz not null default now(),
	deleted_at      timestamptz
);
create index rule_order on rule (priority, created_at, id) where deleted_at is null; -- the pipeline; the list

-- One row: its version is another one after every change of a rule, within that change's transaction. Writers queue at it, and a compiled set is good for one version only.
-- A number would come twice: a transaction that is rolled back gives it free for another content.
create table rulebook (
	id      boolean primary key default true check (id),
	version uuid not null default gen_random_uuid()
);
insert into rulebook default values;

-- How often a rule matched in each sync run. A run writes rows of its own, so that runs side by side never wait for each other; counts are sums.
create table rule_hit (
	rule_id uuid not null references rule (id),
	run_id  uuid not null,
	hits    bigint not null,
	hit_at  timestamptz not null,
	primary key (rule_id, run_id)
);

-- Every new transaction waits for someone to look at it.
insert into rule (id, short_id, name, conditions, actions, trigger, priority, is_system, created_by_type, created_by_name) values
	('019a3c5e-4000-7000-8000-000000000101', '00000049', 'Every new transaction → needs-review', '{}', '[{"type": "add_tag", "tag_slug": "needs-review"}]', 'on_create', 0, true, 'system', 'coffer');
