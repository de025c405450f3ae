-- Returns what has kept dead rows from being cleaned up for longest: a session or prepared transaction, and a
-- replication slot. What sessions run is not asked, because it may quote rows. Sessions of other roles are seen with
-- `pg_read_all_stats`.

(
  select s.pid, s.name, s.age_us, s.transactions
  from (
    select
      a.pid::bigint as pid, a.application_name as name, age(a.backend_xmin)::bigint as transactions,
      (extract(epoch from clock_timestamp() - coalesce(a.xact_start, a.backend_start)) * 1000000)::bigint as age_us
    from pg_stat_activity a
    where a.backend_xmin is not null and a.pid <> pg_backend_pid()
      and a.backend_type not in ('autovacuum worker', 'autovacuum launcher', 'logical replication launcher')
      and coalesce(a.datname = current_database(), true)
    union all
    select
      null, 'prepared transaction', age(p.transaction)::bigint,
      (extract(epoch from clock_timestamp() - p.prepared) * 1000000)::bigint
    from pg_prepared_xacts p
    where p.database = current_database()
  ) s
  order by s.transactions desc
  limit 1
)
union all
(
  select null, s.name, null, s.transactions
  from (
    select r.slot_name::text as name, age(r.xmin)::bigint as transactions
    from pg_replication_slots r
    where r.xmin is not null
  ) s
  order by s.transactions desc
  limit 1
);
