-- +goose Up

-- What groups wordings of one payee: text.Form of the name, and of the merchant name if there is one.
-- Go computes both, so the server fills in what is stored already when it starts, a batch at a time.
alter table descriptor add form bigint, add payee bigint;

-- The first day whose transactions the review rule tags; null: all of them. With from_link an account
-- starts at the day on which it is made.
alter table account add review_from date;
alter table setting add review_history text not null default 'all' check (review_history in ('all', 'from_link'));
