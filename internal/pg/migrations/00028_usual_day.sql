-- +goose Up

-- The day of the month on which a recurring payment comes, so that what is due on the 31st is expected
-- on 28 February and on 31 March. Null: it has none, such as a payment every 28 days.
alter table recurring add usual_day smallint check (usual_day between 1 and 31);

-- The next sweep computes it.
insert into form_due (account_id, form)
select distinct r.account_id, f.form from recurring r cross join unnest(r.forms) f (form) where r.deleted_at is null;
