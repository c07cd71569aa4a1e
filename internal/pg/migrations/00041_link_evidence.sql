-- +goose Up

-- What the last sweep over the newest days saw of a link: transactions that could be one side of a
-- pair, those of them with exactly one other side, and those of them that agree in every respect.
-- decided_at is when coffer confirmed the link by itself, which it does once: whoever undoes that is
-- asked, and not overruled by the next sweep.
alter table account_link
	add candidates integer,
	add matched    integer,
	add agreeing   integer,
	add seen_until date,
	add decided_at timestamptz;
