insert into tacet.migrations (version, name) values (23, '0023_zones') on conflict do nothing;
