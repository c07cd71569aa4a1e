-- +goose Up

-- Jobs are taken from their own table; no other dispatcher stands between.
drop schema river cascade;
alter table job drop column dispatch, drop column dispatched_at;

-- Servers sleep until their next timed work is due (package due). These triggers wake them when a row
-- brings that time forward; the argument is the name of the work.
-- +goose StatementBegin
create function wake() returns trigger language plpgsql as $$
begin
	perform pg_notify('coffer', tg_argv[0]); -- once in a transaction for each name
	return null;
end $$;
-- +goose StatementEnd

create index sync_log_running on sync_log (job_id) where status = 'running'; -- logs that their job left open

create trigger job_wakes after insert or update of state on job
	for each row when (new.state = 'queued') execute function wake('job');
create trigger connection_wakes after insert or update of next_sync_at, status, paused on connection
	for each row when (new.next_sync_at is not null and not new.paused) execute function wake('feed.sync');
create trigger link_session_wakes after insert on link_session
	for each row execute function wake('linksession');
