-- Marks a database whose functions include those that claims call: tacet.count_unread and tacet.counts_by_default_when_planned.
-- tacet migrate applies the files of functions/ after the migrations, so a service that needs a new function needs a migration too:
-- it refuses to start on a database without it. An older service works beside it.
--
-- Locks: none.

insert into tacet.migrations (version, name) values (36, '0036_claims') on conflict do nothing;
