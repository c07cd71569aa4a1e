-- +goose Up

-- A change, its revert, the revert of that and so on are one family: each member after the first takes the first back or brings it back.
-- Who reverts whom is found out first, while others may read: only then is the table closed, for as long as the few reverts are written.
lock table change in share row exclusive mode;
create temporary table family on commit drop as
	with recursive family as (
		select id, id as root, 0 as round from change c where reverts is null and exists (select from change r where r.reverts = c.id)
		union all select c.id, f.root, f.round + 1 from change c join family f on c.reverts = f.id)
	select id, root, round from family where round > 0;
alter table change
	add column root   uuid references change (id), -- of a revert: the change at the family's beginning
	add column round  integer not null default 0,  -- of a revert: which one it is in its family
	add column undoes boolean not null default false; -- of a revert: it takes the root back; the others bring it back
update change c set root = f.root, round = f.round, undoes = f.round % 2 = 1 from family f where f.id = c.id;
create unique index change_family on change (root, round) where root is not null; -- the last of a family; two that revert at once
-- What a revert had to leave may be free to go back later, so a change can have more than one.
alter table change drop constraint change_reverted_once;
