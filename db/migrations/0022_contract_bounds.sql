insert into tacet.migrations (version, name) values (22, '0022_contract_bounds') on conflict do nothing;
