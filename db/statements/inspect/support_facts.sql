-- Returns what helps to understand a database from afar, as one text in the form of JSON: the server, the tables of the
-- service with sizes and vacuums, the processes, and the outcomes of the newest 20000 rows of the ledger by kind. No id of a
-- user, no text and no token is in it.

select jsonb_pretty(jsonb_build_object(
  'server', jsonb_build_object(
    'version', current_setting('server_version'), 'is_standby', pg_is_in_recovery(),
    'database_bytes', pg_database_size(current_database()),
    'oldest_transaction_s', (
      select extract(epoch from max(now() - a.xact_start))::bigint from pg_stat_activity a where a.datname = current_database()),
    'sessions', (select count(*) from pg_stat_activity a where a.datname = current_database())),
  'server_settings', (
    select jsonb_object_agg(s.name, s.setting)
    from pg_settings s
    where s.name in ('max_connections', 'shared_buffers', 'synchronous_commit', 'fsync', 'wal_level', 'autovacuum',
      'autovacuum_naptime', 'max_wal_size', 'track_commit_timestamp', 'default_transaction_isolation', 'jit')),
  'migrations', (select jsonb_build_object('newest', max(m.version), 'count', count(*)) from tacet.migrations m),
  'tables', (
    select jsonb_object_agg(t.relname, jsonb_build_object(
      'rows', t.n_live_tup, 'dead_rows', t.n_dead_tup, 'bytes', pg_total_relation_size(t.relid),
      'vacuumed_at', greatest(t.last_vacuum, t.last_autovacuum),
      'analyzed_at', greatest(t.last_analyze, t.last_autoanalyze)))
    from pg_stat_user_tables t
    where t.schemaname = 'tacet'),
  'processes', (
    select jsonb_agg(jsonb_build_object(
      'host', i.host, 'pid', i.pid, 'version', i.version, 'started_at', i.started_at, 'seen_at', i.seen_at,
      'stopped_at', i.stopped_at))
    from (select n.* from tacet.instances n order by n.seen_at desc limit 50) i),
  'outcomes', (
    select jsonb_agg(jsonb_build_object(
      'kind', o.push_type, 'decision', o.decision, 'reason', o.reason, 'count', o.count, 'newest', o.newest))
    from (
      select l.push_type, l.decision, left(l.reason, 64) as reason, count(*) as count, max(l.enqueued_at) as newest
      from (
        select p.push_type, p.decision, p.reason, p.enqueued_at
        from tacet.push_log p
        order by p.enqueued_at desc
        limit 20000
      ) l
      group by l.push_type, l.decision, left(l.reason, 64)
      order by count(*) desc
      limit 100
    ) o)));
