-- +goose Up

-- ==== target: what the household means to spend on a category in a month ====

create table target (
	id          uuid primary key,
	short_id    text not null constraint target_short_id unique,
	category_id uuid not null references category (id),
	currency    text not null check (currency ~ '^[A-Z]{3}$'),
	amount      numeric(12,2) not null check (amount > 0),
	rollover    boolean not null default false,
	start_month date not null check (extract(day from start_month) = 1),
	end_month   date check (extract(day from end_month) = 1 and end_month >= start_month),
	created_at  timestamptz not null default now(),
	updated_at  timestamptz not null default now(),
	deleted_at  timestamptz
);
create unique index target_category on target (category_id, currency) where deleted_at is null;
create index target_moved on target (category_id); -- what a merge of categories moves

-- The kinds of subjects grow with the program, which knows them all. The rows that are there were
-- checked more strictly, so nothing is read again.
alter table entry drop constraint entry_subject_check,
	add constraint entry_subject_check check (subject ~ '^[a-z_]+$') not valid;
