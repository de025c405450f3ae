insert into tacet.migrations (version, name) values (21, '0021_queue') on conflict do nothing;
