insert into tacet.migrations (version, name) values (24, '0024_erasure') on conflict do nothing;
