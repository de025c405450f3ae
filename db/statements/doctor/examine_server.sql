-- Returns the server's version and state, and the role of the session.
--
-- About all statements in this folder: `tacet doctor` runs them. They only read, within bounds that do not follow the
-- sizes of tables. Where rows are counted, up to 10000 are looked at (PushStatements.examinedRowsMax); more mean "at
-- least".

select
  current_setting('server_version_num')::bigint as version, pg_is_in_recovery() as is_standby,
  -- The transaction itself only reads; this is what other ones are given.
  current_setting('default_transaction_read_only')::bool as is_read_only,
  pg_backend_pid()::bigint as backend_id, current_user::text as role,
  current_setting('session_replication_role') as replication_role;
