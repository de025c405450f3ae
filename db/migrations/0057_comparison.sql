-- The comparison with another sender is gone, and what it had taken in.
--
-- Locks: tacet.compared_pushes alone, which no service reads.

set client_min_messages = warning;

drop function if exists tacet.import_compared(tacet.subject_id[], tacet.user_id[], text[], timestamptz[], text[]);
drop function if exists tacet.import_compared_table(text, text, text, text, text, text, text[]);
drop table if exists tacet.compared_pushes;

insert into tacet.migrations (version, name) values (57, '0057_comparison') on conflict do nothing;

reset client_min_messages;
