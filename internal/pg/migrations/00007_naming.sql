-- +goose Up

-- What transactions are shown with (accounts and whose they are, categories, tags) is small and rarely changes, so servers keep it in memory. A server asks for this version in the very
-- statement that reads transactions, and reads the names again when it differs. It is random and not counted: after a restore it still means what it meant.
create table naming (
	single  boolean primary key default true check (single),
	version uuid not null
);
insert into naming (version) values (gen_random_uuid());

-- +goose StatementBegin
create function naming_changed() returns trigger language plpgsql as $$
begin
	update naming set version = gen_random_uuid() where xmin <> pg_current_xact_id()::xid; -- once in a transaction
	return null;
end $$;
-- +goose StatementEnd

-- Deferred to the commit, so that the one row is never waited for while its writer waits for others.
create constraint trigger account_naming after insert or delete or update of name, display_name, provider, connection_id, owner_id on account
	deferrable initially deferred for each row execute function naming_changed();
create constraint trigger connection_naming after insert or delete or update of member_id on connection
	deferrable initially deferred for each row execute function naming_changed();
create constraint trigger member_naming after insert or delete or update of name on member
	deferrable initially deferred for each row execute function naming_changed();
create constraint trigger category_naming after insert or delete or update of slug, display_name, parent_id, deleted_at on category
	deferrable initially deferred for each row execute function naming_changed();
create constraint trigger tag_naming after insert or delete or update of slug, deleted_at on tag
	deferrable initially deferred for each row execute function naming_changed();
