insert into tacet.migrations (version, name) values (27, '0027_deliveries') on conflict do nothing;
