-- +goose Up

-- From which amount on a charge is told of, by currency; and from which hour on, and from how many on,
-- what waits for review is.
alter table setting add large_charge jsonb not null default '[]',
	add review_digest_hour smallint check (review_digest_hour between 0 and 23),
	add review_digest_min integer check (review_digest_min >= 1),
	add constraint setting_review_digest check ((review_digest_hour is null) = (review_digest_min is null));
