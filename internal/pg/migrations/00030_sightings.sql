-- +goose Up

-- The findings among transactions of the last 90 days, as of the last recount: looking through a
-- million transactions for them takes half a second, which is too long for every overview. Lists of
-- findings do not read it.
create table sighting (
	id   uuid primary key, -- that of the finding
	kind text not null,
	day  date not null
);

-- A row says that transactions changed since the last recount.
create table sighting_due (noted_at timestamptz not null default clock_timestamp());
create trigger sighting_due_wakes after insert on sighting_due for each statement execute function wake('finding');

insert into sighting_due (noted_at) select clock_timestamp() where exists (select from recurring);
