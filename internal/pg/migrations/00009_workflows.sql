-- +goose Up

-- ==== workflow: agents of the household, their runs, plans and costs ====

-- A text that several workflows share. It stands before the prompt.
create table prompt_block (
	id         uuid primary key,
	short_id   text not null constraint prompt_block_short_id unique,
	slug       text not null constraint prompt_block_slug unique,
	title      text not null check (title <> ''),
	body       text not null check (body <> ''),
	is_system  boolean not null default false, -- shipped with coffer
	customized boolean not null default false, -- a person edited it; upgrades leave it
	shipped    text, -- hash of the shipped text that the row was last made from
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);

-- An agent that the household defined. Provider and model are null if the household's default is to
-- be used.
create table workflow (
	id              uuid primary key,
	short_id        text not null constraint workflow_short_id unique,
	slug            text not null constraint workflow_slug unique,
	name            text not null check (name <> ''),
	description     text not null,
	prompt          text not null check (prompt <> ''),
	prompt_blocks   text[] not null default '{}', -- slugs, in order
	provider        text check (provider in ('anthropic', 'openai_compatible')),
	model           text check (model <> ''),
	tools           text[] not null default '{}', -- empty: all that the scope allows
	scope           text not null check (scope in ('read_only', 'full_access')),
	trigger         text not null check (trigger in ('manual', 'schedule', 'after_sync')),
	schedule        text check (schedule <> ''), -- cron
	max_turns       integer not null default 30 check (max_turns between 1 and 200),
	max_cost_micros bigint check (max_cost_micros >= 0),
	max_writes      integer check (max_writes >= 0),
	max_minutes     integer not null default 30 check (max_minutes between 1 and 720),
	dry_run         boolean not null default true,
	makes_rules     boolean not null default false, -- it may create rules without a person's approval
	worklist        jsonb, -- it works through transactions in sheets; null: it holds a conversation
	report          text not null default 'none' check (report in ('none', 'message', 'server')),
	enabled         boolean not null default false,
	is_system       boolean not null default false, -- shipped with coffer
	customized      boolean not null default false, -- a person edited it; upgrades leave it
	shipped         text, -- hash of the shipped definition that the row was last made from
	version         bigint not null default 1,
	distrusted_at   timestamptz, -- when its record made coffer turn dry_run on again
	due_at          timestamptz, -- when it starts next by itself
	created_at      timestamptz not null default now(),
	updated_at      timestamptz not null default now(),
	constraint workflow_scheduled check ((trigger = 'schedule') = (schedule is not null))
);
create index workflow_due on workflow (due_at) where enabled and due_at is not null; -- what starts next

create trigger workflow_wakes after insert or update of due_at, enabled on workflow
	for each row when (new.enabled and new.due_at is not null) execute function wake('workflow');

-- A run of a workflow. Its id is also that of its job, and of the actor of its changes.
create table workflow_run (
	id                 uuid primary key,
	short_id           text not null constraint workflow_run_short_id unique,
	workflow_id        uuid references workflow (id) on delete set null,
	workflow_slug      text not null,
	trigger            text not null check (trigger in ('manual', 'schedule', 'after_sync', 'eval')),
	status             text not null default 'queued'
		check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'limit_reached')),
	mode               text not null default 'doing' check (mode in ('doing', 'planning')),
	definition         jsonb not null, -- as it was when the run was queued, with its blocks
	definition_hash    text not null, -- SHA-256, in hex
	max_writes         integer,
	turns              integer not null default 0,
	input_tokens       bigint not null default 0,
	cache_read_tokens  bigint not null default 0,
	cache_write_tokens bigint not null default 0,
	output_tokens      bigint not null default 0,
	cost_micros        bigint, -- null: a price was not known
	made               integer not null default 0, -- tags and counterparties that it created
	made_rules         integer not null default 0,
	left_open          integer not null default 0, -- transactions that it was not sure about
	bytes              bigint not null default 0, -- of its transcript
	limit_name         text, -- the limit that was reached
	plan_state         text not null default 'none' check (plan_state in ('none', 'waiting', 'applied', 'dropped')),
	report_id          uuid,
	result             jsonb, -- of an eval: its figures
	error_code         text,
	error_message      text,
	asked_type         text not null check (asked_type in ('user', 'agent', 'system')),
	asked_id           uuid,
	asked_name         text not null,
	created_at         timestamptz not null default now(),
	started_at         timestamptz,
	finished_at        timestamptz,
	constraint workflow_run_ended
		check ((status in ('succeeded', 'failed', 'cancelled', 'limit_reached')) = (finished_at is not null))
);
create unique index workflow_run_live on workflow_run (workflow_id)
	where status in ('queued', 'running') and trigger <> 'eval'; -- one run of a workflow at a time, on any number of servers
create index workflow_run_of on workflow_run (workflow_id, id); -- the runs of a workflow, newest first
create index workflow_run_plans on workflow_run (id) where plan_state = 'waiting'; -- plans that a person must look at

-- The transcript of a run: what was said, called, answered, counted. It is also the run's state.
create table workflow_line (
	run_id uuid not null references workflow_run (id) on delete cascade,
	seq    integer not null,
	at     timestamptz not null default clock_timestamp(),
	kind   text not null,
	body   jsonb not null,
	primary key (run_id, seq)
);

-- What a run planned: an entry of the journal that was rehearsed, or a call that is made when the
-- plan is applied.
create table workflow_plan (
	run_id        uuid not null references workflow_run (id) on delete cascade,
	seq           integer not null,
	tool          text not null,
	subject       text, -- null: a call
	subject_id    uuid,
	field         text,
	ref           uuid,
	before        text,
	after         text,
	before_source text,
	after_source  text,
	rule_id       uuid,
	note          text,
	seen          bigint, -- the newest entry about the field when it was rehearsed
	row           jsonb, -- the whole row of what the entry creates
	arguments     jsonb, -- of a call
	found         bigint, -- how many transactions a call's dry run found
	state         text not null default 'open' check (state in ('open', 'applied', 'skipped', 'excepted')),
	primary key (run_id, seq),
	check ((subject is null) = (arguments is not null))
);

-- What a workflow left open, so that it is not paid for again until something about it changes.
create table workflow_seen (
	workflow_id    uuid not null references workflow (id) on delete cascade,
	transaction_id uuid not null references transaction (id) on delete cascade,
	state          bytea not null, -- hash of what was looked at
	at             timestamptz not null default now(),
	primary key (workflow_id, transaction_id)
);
create index workflow_seen_transaction on workflow_seen (transaction_id); -- the foreign key's check when a transaction is erased

-- A call of a model: what was reserved for it before, and what it cost.
create table model_call (
	id              uuid primary key,
	run_id          uuid not null references workflow_run (id) on delete cascade,
	turn            integer not null,
	state           text not null check (state in ('asking', 'answered', 'failed', 'lost')),
	provider        text not null,
	model           text not null,
	month           date not null, -- whose ceiling it counts against
	reserved_micros bigint, -- null: the price is not known and nothing limits it
	cost_micros     bigint,
	input_tokens    bigint,
	output_tokens   bigint,
	request_id      text,
	stop            text,
	asked_at        timestamptz not null default clock_timestamp(),
	ended_at        timestamptz
);
create index model_call_run on model_call (run_id, turn); -- the calls of a run
create index model_call_asking on model_call (run_id) where state = 'asking'; -- calls that a dead worker left

-- What models cost in a month of the household, and what is reserved for calls under way.
create table model_month (
	month           date primary key, -- its first day
	spent_micros    bigint not null default 0,
	reserved_micros bigint not null default 0,
	warned          integer not null default 0 -- per cent of the ceiling that were reported: 0, 80 or 100
);
