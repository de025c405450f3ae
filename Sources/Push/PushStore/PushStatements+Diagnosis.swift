internal import Postgres

// What `tacet doctor` asks. All of it only reads, within bounds that do not follow the sizes of tables.
extension PushStatements {
  /// Rows looked at where something is counted; more are told as "at least".
  static let examinedRowsMax = 10_000

  /// The server, and whom it takes us for.
  static let examineServer = PostgresStatement(
    "examine_server",
    """
    select
      current_setting('server_version_num')::bigint as version, pg_is_in_recovery() as is_standby,
      pg_backend_pid()::bigint as backend_id, current_user::text as role,
      current_setting('session_replication_role') as replication_role
    """)

  /// The server's wall clock, in microseconds since 1970.
  static let examineClock = PostgresStatement(
    "examine_clock", "select (extract(epoch from clock_timestamp()) * 1000000)::bigint")

  /// Roles whose sessions run no ordinary triggers in this database, by a setting of theirs.
  static let examineReplicationRoles = PostgresStatement(
    "examine_replication_roles",
    """
    select coalesce(r.rolname::text, 'every role')
    from pg_db_role_setting s
    left join pg_roles r on r.oid = s.setrole
    cross join unnest(s.setconfig) as c (setting)
    where c.setting = 'session_replication_role=replica'
      and (s.setdatabase = 0 or s.setdatabase = (select d.oid from pg_database d where d.datname = current_database()))
    order by 1
    """)

  /// The triggers that run functions of schema `tacet`, with what each does by its argument.
  static let examineTriggers = PostgresStatement(
    "examine_triggers",
    """
    select
      t.tgrelid::regclass::text as table_name, t.tgname::text as name, t.tgenabled::text as state,
      p.proname::text as function, replace(encode(t.tgargs, 'escape'), '\\000', '') as argument
    from pg_trigger t
    join pg_proc p on p.oid = t.tgfoid
    join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = 'tacet' and not t.tgisinternal and t.tgparentid = 0
    order by 1, 2
    """)

  /// The triggers that each watched kind must have; no state for one that is not there.
  static let examineKinds = PostgresStatement(
    "examine_kinds",
    """
    select k.kind, k.source::text as table_name, w.name::text as name, t.tgenabled::text as state
    from tacet.kinds k
    cross join lateral (
      values (tacet.watch_trigger_name(k.kind, 'happened')), (tacet.watch_trigger_name(k.kind, 'deleted'))
    ) as w (name)
    left join pg_trigger t on t.tgrelid = k.source and t.tgname = w.name
    order by 1, 3
    limit 1000
    """)

  /// Whether indexes can be used; no answer for one that is not there.
  ///
  /// `$1`: their names.
  static let examineIndexes = PostgresStatement(
    "examine_indexes",
    """
    select w.name, (
      select bool_or(i.indisvalid and i.indisready and i.indislive)
      from pg_class c
      join pg_index i on i.indexrelid = c.oid
      join pg_namespace n on n.oid = c.relnamespace
      where c.relname = w.name and n.nspname in ('tacet', 'public')
    ) as is_usable
    from unnest($1) as w (name)
    """,
    [.array(of: .text)])

  /// Device tokens by app and environment, as the default host contract has them; the first of them when they are many.
  static let examineDeviceTokens = PostgresStatement(
    "examine_device_tokens",
    """
    select coalesce(t.app, '') as app, coalesce(t.environment, '') as environment, count(*) as tokens
    from (
      select p.app, p.environment, p.invalidated_at, p.platform
      from public.push_tokens p
      limit 20 * \(examinedRowsMax)
    ) t
    where t.invalidated_at is null
      and lower(t.platform) in ('ios', 'ipados', 'macos', 'watchos', 'tvos', 'visionos', 'apns')
    group by 1, 2
    order by 3 desc, 1, 2
    limit 200
    """)

  /// What waits, and for how long it should have gone on; in microseconds.
  static let examineBacklog = PostgresStatement(
    "examine_backlog",
    """
    select
      (select count(*) from (select from tacet.inbox i limit \(examinedRowsMax)) n) as events,
      (extract(epoch from clock_timestamp() - least(
        (select greatest(i.available_at, i.enqueued_at)
          from tacet.inbox i where not i.is_claimed order by i.available_at limit 1),
        (select min(i.available_at) from tacet.inbox i where i.is_claimed))) * 1000000)::bigint as event_overdue,
      (extract(epoch from clock_timestamp()
        - (select min(d.due_at) from tacet.deliveries d where d.state <> 'waiting')) * 1000000)::bigint
        as delivery_overdue,
      (select count(*) from (select from tacet.deliveries d where d.state = 'waiting' limit \(examinedRowsMax)) n)
        as waiting,
      (extract(epoch from clock_timestamp() - (
        select min(d.enqueued_at)
        from (select w.enqueued_at from tacet.deliveries w where w.state = 'waiting'
          order by w.lane, w.enqueued_at limit \(examinedRowsMax)
        ) d
      )) * 1000000)::bigint as waiting_age,
      (select count(*) from (select from tacet.parked p limit \(examinedRowsMax)) n) as parked
    """)

  /// What has kept dead rows from being cleaned up for longest: a session or prepared transaction, and a replication slot.
  static let examineSnapshots = PostgresStatement(
    "examine_snapshots",
    """
    (select s.pid, s.name, s.age_us, s.transactions from (\(snapshots)) s order by s.transactions desc limit 1)
    union all
    (select null, s.name, null, s.transactions from (\(slotSnapshots)) s order by s.transactions desc limit 1)
    """)

  /// Errors that triggers swallowed during the last day, by SQLSTATE and kind; their texts may quote rows.
  static let examineTriggerFailures = PostgresStatement(
    "examine_trigger_failures",
    """
    select f.sqlstate, f.kind, count(*) as failures,
      (extract(epoch from clock_timestamp() - max(f.failed_at)) * 1000000)::bigint as age
    from (
      select t.sqlstate, t.kind, t.failed_at
      from tacet.trigger_failures t
      where t.failed_at > clock_timestamp() - interval '1 day'
      order by t.failed_at desc
      limit \(examinedRowsMax)
    ) f
    group by 1, 2
    order by 4
    limit 20
    """)

  /// What the triggers are told to do besides the inbox row, and whether they can.
  static let examineWebhook = PostgresStatement(
    "examine_webhook",
    """
    select
      s.notify_enabled, s.webhook_url is not null as has_url, s.has_webhook_secret as has_secret,
      tacet.has_http_post() as has_function,
      coalesce((
        select has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'net' and c.relname = 'http_request_queue'
      ), false) as reads_queue
    from tacet.settings s
    """)

  /// Plays a message through the host contract; nothing of it stays. `$1`: whether one is inserted.
  static let rehearseMessage = PostgresStatement(
    "rehearse_message", "select r.step, r.outcome, r.state, r.message from tacet.rehearse_message($1) r", [.bool])

  /// The tables of the default host that functions of the contract read. Those of a host with other tables are its own.
  static let examineContractTables = PostgresStatement(
    "examine_contract_tables",
    """
    select t.name
    from unnest('{messages,conversation_participants,push_tokens,profiles,conversations}'::text[]) as t (name)
    where to_regclass('public.' || t.name) is not null and exists (
      select
      from pg_proc p
      where p.pronamespace = (select n.oid from pg_namespace n where n.nspname = 'tacet')
        and p.prorettype <> 'trigger'::regtype and p.proname <> 'rehearse_message'
        and strpos(p.prosrc, 'public.' || t.name) > 0
    )
    """)

  /// As ``examineDeviceTokens``, by the host's own function: those of the users who were told something last.
  static let examineContractTokens = PostgresStatement(
    "examine_contract_tokens",
    """
    select coalesce(d.app, '') as app, coalesce(d.environment, '') as environment, count(*) as tokens
    from (
      select distinct l.user_id
      from (select x.user_id from public.push_log x order by x.enqueued_at desc limit 1000) l
    ) u
    cross join lateral tacet.device_tokens(u.user_id) d
    group by 1, 2
    order by 3 desc, 1, 2
    limit 200
    """)

  /// Tables that only some databases have. What looks into them cannot be prepared on every one.
  static let examineTables = PostgresStatement(
    "examine_tables",
    """
    select n.nspname || '.' || c.relname
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname || '.' || c.relname = any ($1)
    """,
    [.array(of: .text)])

  /// How a statement would be run; its effects do not happen.
  static func explaining(_ statement: PostgresStatement) -> PostgresStatement {
    let name = "explain_\(statement.name)"
    return PostgresStatement(name, "explain \(statement.sql)", statement.parameterTypes)
  }

  /// The queue of pg_net: how many requests wait, 1000 at the most, and the number of the first.
  static let webhookQueue: PostgresStatement = {
    let name = "examine_webhook_queue"
    return PostgresStatement(
      name,
      """
      select count(*) as requests, min(q.id)::bigint as first
      from (select r.id from net.http_request_queue r order by r.id limit 1000) q
      """)
  }()

  /// The processes that have said that they run and not that they stop, the last one first.
  static let instances: PostgresStatement = {
    let name = "examine_instances"
    return PostgresStatement(
      name,
      """
      select i.id, i.host, i.version, (extract(epoch from clock_timestamp() - i.seen_at) * 1000000)::bigint as age
      from tacet.instances i
      where i.stopped_at is null
      order by i.seen_at desc
      limit 20
      """)
  }()

  /// Calls a function of the host contract for nobody.
  static func calling(_ function: HostFunction) -> PostgresStatement {
    let name = "examine_\(function.rawValue)"
    return PostgresStatement(name, "select count(*) from tacet.\(function.rawValue)(\(function.arguments))")
  }
}
