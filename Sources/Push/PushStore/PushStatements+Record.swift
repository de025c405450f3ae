internal import Postgres

extension PushStatements {
  /// Records a batch of outcomes, queues what remains, and takes finished events from the inbox: one transaction.
  ///
  /// `$1`–`$21` and `$34`–`$36` are columns of equal length, one row per recipient; `$22`–`$25` one row per event; `$26`–`$28` one row
  /// per device token that APNs has declared dead; `$29`–`$33` one per token that works in another environment than its
  /// registration says. No recipient and no event may appear twice.
  ///
  /// - Only the owner of a claim changes what is queued: the row is locked and its number of attempts compared. Whoever
  ///   comes after its lease ran out, and after somebody else has claimed again, adds what was really sent to the ledger
  ///   and to the devices that have it, and nothing else.
  /// - Two records cannot wait for each other, because both take their locks in one order: events, deliveries, ledger,
  ///   device tokens, each by its key. So a late acceptance locks the delivery it adds to before it touches the ledger.
  /// - The ledger keeps the first final decision, except that a later acceptance by one more device counts on top of an
  ///   earlier one. Nothing remains for a recipient whose row it refused.
  /// - An event of which more recipients are to come stays in the inbox, as fresh as it was.
  /// - As in ``picking``, no join is left to the planner: rows are found by arrays of subjects, which only the primary key
  ///   serves, and told apart by hashed look-ups, which `is true` keeps from becoming joins. Not by their places: a row
  ///   that was waited for may have moved. `is_claimed::int = 1` says `is_claimed` so that no partial index seems to do.
  /// - Each claim's record adds an entry to the row's history, once however often it is written; of more than
  ///   ``HistoryEntry/keptMax`` the first half stay, and the newest.
  /// - A row keeps the id that it has: pushes that were sent before carry it.
  /// - Times and counts beyond the ledger's columns are cut. After an outage a wake-up can be hours old, and one refused
  ///   row would take its whole batch with it.
  static let record = PostgresStatement(
    "record",
    """
    with reported as materialized (
      select
        o.*,
        timestamptz 'epoch' + o.claimed_us * interval '1 microsecond' as claimed_at,
        timestamptz 'epoch' + o.enqueued_us * interval '1 microsecond' as enqueued_at,
        timestamptz 'epoch' + (o.claimed_us + o.due_us) * interval '1 microsecond' as due_at
      from unnest(
        $1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[],
        $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::text[], $15::text[],
        $16::text[], $17::boolean[], $18::uuid[], $19::bigint[], $20::text[], $21::bigint[], $34::uuid[], $35::text[],
        $36::text[]
      ) as o (
        subject_id, kind, user_id, decision, reason, enqueued_us, claimed_us, woken_us,
        decided_us, accepted_us, devices_accepted, attempts, due_us, state, accepted_devices, woken_by, is_delivery,
        conversation_id, held_us, lane, retries, log_id, content, history
      )
    ), events as materialized (
      select e.subject_id, e.kind, e.has_more
      from (
        select *
        from unnest($22::uuid[], $23::text[], $24::int[], $25::boolean[]) as e (subject_id, kind, attempts, has_more)
        order by e.subject_id, e.kind
      ) e
      cross join lateral (
        \(ownClaim)
      ) i
    ), outcomes as materialized (
      select o.*, coalesce(d.is_owned, false) or not o.is_delivery and o.is_of_owned_event as is_owned
      from (
        select r.*, ((r.subject_id, r.kind) in (select e.subject_id, e.kind from events e)) is true as is_of_owned_event
        from reported r
        order by r.subject_id, r.user_id, r.kind
      ) o
      left join lateral (
        select o.is_delivery and x.attempts = o.attempts and x.is_claimed::int = 1 as is_owned
        from tacet.deliveries x
        where x.subject_id = o.subject_id and x.user_id = o.user_id and x.kind = o.kind
          and (o.is_delivery and x.attempts = o.attempts and x.is_claimed::int = 1 or o.decision = 'sent')
        for update
      ) d on true
    ), logged as (
      insert into public.push_log as l (\(ledgerColumns))
      select
        o.log_id, o.subject_id, o.kind, o.user_id, o.decision, o.reason, o.enqueued_at, o.claimed_at,
        case when o.decision = 'held' then o.due_at end,
        case when o.decision = 'sent' then o.claimed_at + o.accepted_us * interval '1 microsecond' end,
        \(ledgerMeasures)
      from outcomes o
      where o.is_owned or o.decision = 'sent'
      order by o.subject_id, o.user_id, o.kind
      \(ledgerConflict)
      returning l.subject_id, l.user_id, l.push_type
    ), remaining as (
      insert into tacet.deliveries as d (
        subject_id, kind, user_id, due_at, enqueued_at, attempts, state, accepted_devices, conversation_id, since,
        held_us, lane, retries
      )
      select
        o.subject_id, o.kind, o.user_id, o.due_at, o.enqueued_at, o.attempts, o.state,
        string_to_array(o.accepted_devices, ','), o.conversation_id, o.claimed_at, o.held_us, o.lane,
        least(o.retries, 32767)
      from outcomes o
      where o.is_owned and o.due_us is not null and \(isLogged)
      on conflict (subject_id, user_id, kind) do update
      set
        due_at = excluded.due_at, state = excluded.state,
        accepted_devices = array(select unnest(d.accepted_devices) union select unnest(excluded.accepted_devices)),
        conversation_id = excluded.conversation_id, since = excluded.since, held_us = excluded.held_us,
        lane = excluded.lane, retries = excluded.retries, rescues = 0, is_claimed = false, error = null, released_at = null,
        released_by = null
    ), accepted as (
      update tacet.deliveries d
      set accepted_devices = array(
        select unnest(d.accepted_devices) union select unnest(string_to_array(o.accepted_devices, ',')))
      from outcomes o
      where d.subject_id = any (array(
          select l.subject_id from outcomes l where not l.is_owned and l.decision = 'sent'))
        and not o.is_owned and o.decision = 'sent'
        and o.subject_id = d.subject_id and o.user_id = d.user_id and o.kind = d.kind
    ), done as (
      delete from tacet.deliveries d
      where d.subject_id = any (array(select o.subject_id from outcomes o where o.is_delivery))
        and ((d.subject_id, d.user_id, d.kind) in (
          select o.subject_id, o.user_id, o.kind
          from outcomes o
          where o.is_owned and o.is_delivery and not (o.due_us is not null and \(isLogged)))) is true
    ), finished as (
      delete from tacet.inbox i
      where i.subject_id = any (array(select e.subject_id from events e))
        and ((i.subject_id, i.kind) in (select e.subject_id, e.kind from events e where not e.has_more)) is true
    ), continued as (
      update tacet.inbox i
      set
        available_at = least(now(), i.enqueued_at), rescues = 0, is_claimed = false, error = null,
        told_until = (
          select o.user_id
          from outcomes o
          where o.subject_id = i.subject_id and o.kind = i.kind and not o.is_delivery
          order by o.user_id desc
          limit 1)
      where i.subject_id = any (array(select e.subject_id from events e where e.has_more))
        and ((i.subject_id, i.kind) in (select e.subject_id, e.kind from events e where e.has_more)) is true
    ), told as (
      select
        case
          when t.environment is null then tacet.invalidate_device_token(t.device_token, t.reason, t.moment)
          else
            tacet.learn_token_environment(
              t.device_token, t.environment, t.registered_environment, t.registered_app, t.moment)
        end
      from (
        select
          u.device_token, u.reason, u.environment, u.registered_environment, u.registered_app,
          timestamptz 'epoch' + u.moment_us * interval '1 microsecond' as moment
        from (
          select d.device_token, d.reason, null, null, null, d.since_us
          from unnest($26::text[], $27::text[], $28::bigint[]) as d (device_token, reason, since_us)
          union all
          select n.device_token, null, n.environment, n.registered_environment, n.registered_app, n.read_us
          from unnest($29::text[], $30::text[], $31::text[], $32::text[], $33::bigint[]) as n (
            device_token, environment, registered_environment, registered_app, read_us
          )
        ) as u (device_token, reason, environment, registered_environment, registered_app, moment_us)
        order by u.device_token
      ) t
    )
    select count(*) from told
    """,
    recordParameterTypes)

  /// Locks the inbox row of an event `e` as long as its claim is the caller's.
  static let ownClaim = """
    select
    from tacet.inbox x
    where x.subject_id = e.subject_id and x.kind = e.kind and x.attempts = e.attempts and x.is_claimed::int = 1
    for update
    """

  /// Whether the ledger took an outcome's row.
  private static let isLogged = """
    ((o.subject_id, o.user_id, o.kind) in (select g.subject_id, g.user_id, g.push_type from logged g)) is true
    """

  private static let recordParameterTypes: [PostgresType] =
    recordOutcomeTypes + recordEventTypes + recordTokenTypes
    + [.array(of: .uuid), .array(of: .text), .array(of: .text)]

  private static let recordOutcomeTypes: [PostgresType] =
    [.uuid, .text, .uuid, .text, .text].map { .array(of: $0) }
    + [PostgresType](repeating: .array(of: .int8), count: 8)
    + [.text, .text, .text, .bool, .uuid, .int8, .text, .int8].map { .array(of: $0) }

  private static let recordEventTypes: [PostgresType] = [.uuid, .text, .int4, .bool].map { .array(of: $0) }

  private static let recordTokenTypes: [PostgresType] =
    [.text, .text, .int8, .text, .text, .text, .text, .int8].map { .array(of: $0) }
}
