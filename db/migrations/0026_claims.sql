insert into tacet.migrations (version, name) values (26, '0026_claims') on conflict do nothing;
