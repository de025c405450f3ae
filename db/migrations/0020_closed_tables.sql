insert into tacet.migrations (version, name) values (20, '0020_closed_tables') on conflict do nothing;
