-- +goose Up

-- The workflow run that asked for a job, so that what the job writes is the run's.
alter table job add actor_run uuid;

-- Which call of the run an entry of its plan came from. Entries of one call belong together.
alter table workflow_plan add step integer not null default 0;

create index change_created on change (created_at); -- the books as of a moment; changes of a time
