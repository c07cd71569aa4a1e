-- +goose NO TRANSACTION
-- +goose Up

-- Two wordings may differ in the purpose alone. The purpose stands here as a digest, because an
-- index has no room for three long texts. Built while others read and write; what an earlier try
-- left behind goes first.
drop index concurrently if exists descriptor_worded;
create unique index concurrently descriptor_worded on descriptor (name, merchant_name, md5(detail));
