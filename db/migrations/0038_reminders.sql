-- Locks: none.

insert into tacet.migrations (version, name) values (38, '0038_reminders') on conflict do nothing;
