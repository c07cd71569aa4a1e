-- +goose Up

alter table descriptor drop constraint descriptor_wording;
