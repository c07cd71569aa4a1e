-- +goose Up

-- Long work: what was asked, by whom, how far it is and what came of it. The dispatcher's own tables stand in the schema river and are made by its library;
-- a row there only says that this one should be looked at.
create table job (
	id               uuid primary key,
	short_id         text not null constraint job_short_id unique,
	kind             text not null check (kind <> ''),
	state            text not null default 'queued' check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
	unique_key       text, -- a live job of the same kind and key is joined instead of made again
	priority         smallint not null check (priority between 1 and 4),
	args             jsonb not null,
	position         jsonb, -- where a run that was broken off goes on
	done             bigint not null default 0,
	total            bigint,
	unit             text not null,
	result           jsonb,
	error_code       text,
	error_message    text,
	actor_type       text not null check (actor_type in ('user', 'agent', 'system')),
	actor_id         uuid,
	actor_name       text not null,
	actor_scope      smallint not null,
	actor_key        uuid,
	cancel_requested boolean not null default false,
	attempt          integer not null default 0, -- how often someone took it up
	failures         integer not null default 0, -- tries that failed since it last moved forward
	losses           integer not null default 0, -- workers that vanished since it last moved forward
	run_at           timestamptz not null default now(), -- not before
	dispatch         bigint, -- the dispatcher's row that may start it; another one is stale
	dispatched_at    timestamptz,
	lease_owner      text,
	lease_number     bigint not null default 0, -- grows whenever the lease changes hands, so that a former holder can be told from the present one
	renewed_at       timestamptz,
	created_at       timestamptz not null default now(),
	started_at       timestamptz,
	finished_at      timestamptz,
	constraint job_leased check (state <> 'running' or lease_owner is not null and renewed_at is not null),
	constraint job_ended check ((state in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null))
);
create unique index job_live on job (kind, unique_key) where state in ('queued', 'running'); -- one live job per key
create index job_running on job (renewed_at) where state = 'running'; -- leases that ran out
create index job_queued on job (run_at) where state = 'queued'; -- what is due
create index job_finished on job (finished_at) where finished_at is not null; -- the sweep of old ones

create schema river;
