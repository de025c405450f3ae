insert into tacet.migrations (version, name) values (25, '0025_devices') on conflict do nothing;
