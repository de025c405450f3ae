internal import Postgres

extension PushStatements {
  /// The types of the parameters of ``picking``.
  static let pickingParameterTypes: [PostgresType] =
    [.int8, .int8, .int8, .int8, .int8, .array(of: .text), .array(of: .int8), .int8]

  /// Leases inbox rows and deliveries, and names them `work`, each with the moment from which ages are counted.
  ///
  /// `$1`: new events at the most. `$2`: rescued events and due deliveries at the most, each. `$3`: the lease in
  /// microseconds. `$4`: recipients of one event at the most. `$5`: rescues after which work is parked.
  /// `$6`, `$7`: the lanes that take pushes now, and how many waiting deliveries each. `$8`: a message's life in
  /// microseconds; new events that were older when they were enqueued are left to ``discardTooOld``.
  ///
  /// - New events first, the newest of them first: after an outage the message of this second goes out before that of an
  ///   hour ago. Conversations take turns, so that a flooded one keeps no other waiting; the turns are dealt among the
  ///   newest rows, sixteen times as many as are taken.
  /// - Then what a lost claim left behind, what has become due, and what waited for its lane, again the newest first.
  /// - What was claimed three times without a record may be what kills its claimants: one of a kind at a time, so that
  ///   nothing innocent shares its fate often. From then on the lease doubles with every claim, up to 32 times.
  ///
  /// The common table expressions that lock are materialized, so that the planner cannot run a `limit` more than once.
  /// Rows that somebody else is claiming are skipped; one that changed since it was seen has moved, and is found no more.
  ///
  /// The queue tables are nearly empty whenever their statistics are taken, and full when it matters. So no join is left
  /// to the planner, which would take every row for the only one: rows are addressed by their place (`ctid`), which stays
  /// while they are locked, in nested look-ups and arrays that have one plan (with ``PushDatabase/serviceSettings``).
  static let picking = """
    with \(newest), rescued as materialized (
      select i.ctid as place
      from tacet.inbox i
      where i.is_claimed and i.rescues < 2 and i.available_at <= now()
      order by i.available_at desc
      limit $2
      for update skip locked
    ), suspect as materialized (
      select i.ctid as place
      from tacet.inbox i
      where i.is_claimed and i.rescues >= 2 and i.rescues < $5 and i.available_at <= now()
      order by i.available_at
      limit least($2, 1)
      for update skip locked
    ), events as (
      update tacet.inbox i
      set
        available_at = now()
          + ($3 << least(greatest(i.rescues + i.is_claimed::int - 1, 0), 5)) * interval '1 microsecond',
        attempts = i.attempts + 1,
        rescues = i.rescues + i.is_claimed::int,
        is_claimed = true
      where i.ctid = any (array(
        select f.place from fresh f
        union all select r.place from rescued r
        union all select u.place from suspect u))
      returning i.subject_id, i.kind, i.attempts, i.enqueued_at, i.told_until, clock_timestamp() as moment
    ), due as materialized (
      select d.ctid as place
      from tacet.deliveries d
      where d.state <> 'waiting' and d.due_at <= now() and d.rescues < 2
      order by d.due_at
      limit $2
      for update skip locked
    ), waiting as materialized (
      select w.place
      from unnest($6, $7) as l (lane, places)
      cross join lateral (
        select d.ctid as place
        from tacet.deliveries d
        where d.state = 'waiting' and d.lane = l.lane and d.due_at <= now() and d.rescues < 2
        order by d.enqueued_at desc
        limit l.places
        for update skip locked
      ) w
    ), suspect_delivery as materialized (
      select d.ctid as place
      from tacet.deliveries d
      where d.rescues > 1 and d.rescues < $5 and d.due_at <= now()
      order by d.due_at
      limit least($2, 1)
      for update skip locked
    ), deliveries as (
      update tacet.deliveries d
      set
        due_at = now()
          + ($3 << least(greatest(d.rescues + d.is_claimed::int - 1, 0), 5)) * interval '1 microsecond',
        attempts = d.attempts + 1,
        rescues = d.rescues + d.is_claimed::int,
        is_claimed = true
      where d.ctid = any (array(
        select u.place from due u
        union all select w.place from waiting w
        union all select x.place from suspect_delivery x))
      returning
        d.subject_id, d.user_id, d.kind, d.attempts, d.enqueued_at, d.accepted_devices,
        \(heldMicroseconds) as held_us, d.retries, d.state = 'waiting' as is_waiting, d.released_by,
        d.released_at, clock_timestamp() as moment
    ), work as (
      select \(columnsOfEvents)
      from events e
      union all
      select d.subject_id, d.kind, d.user_id, d.attempts, d.enqueued_at, d.accepted_devices, d.held_us, d.retries,
        d.is_waiting, d.released_by, d.released_at, d.moment, null::uuid
      from deliveries d
    )
    """

  /// The types of the parameters of ``pickingMessages``.
  static let pickingMessagesParameterTypes: [PostgresType] = [.int8, .int8, .int8, .int8]

  /// ``picking`` of messages that nobody has claimed before.
  ///
  /// `$1`: messages at the most. `$2`: the lease in microseconds. `$3`: recipients of one message at the most. `$4`: how
  /// far back it looks, in microseconds; what became available earlier is left to ``picking``.
  ///
  /// - The newest alone, whatever their conversations: as long as it brings less than it may, all have their turn.
  /// - A host's transaction that stays open keeps the index entries of every message that was claimed since. Without an
  ///   end to look for, each claim walks through all of them.
  /// - `is true` keeps the planner from reading the primary key by its second column, and the sessions' settings from a
  ///   bitmap, which reads all dead rows before the first live one: both look cheap while the table is believed empty.
  /// - `offset 0` keeps it from reading the ledger by an index whose order is that of the list.
  static let pickingMessages = """
    with fresh as materialized (
      select i.ctid as place
      from tacet.inbox i
      where (i.kind = 'message') is true and i.attempts = 0 and not i.is_claimed
        and i.available_at <= now() and i.available_at >= now() - $4 * interval '1 microsecond'
      order by i.available_at desc
      limit $1
      for update skip locked
    ), events as (
      update tacet.inbox i
      set available_at = now() + $2 * interval '1 microsecond', attempts = 1, is_claimed = true
      where i.ctid = any (array(select f.place from fresh f))
      returning i.subject_id, i.kind, i.attempts, i.enqueued_at, i.told_until, clock_timestamp() as moment
    ), work as materialized (
      select \(columnsOfEvents), array(
        select r.user_id from (\(LedgerLook.recipients(of: "e")) offset 0) r order by r.user_id
      ) as recorded
      from events e
    )
    """

  /// `fresh`: the places of new events, locked; `$1` of them at the most.
  private static let newest = """
    newest as materialized (
      select
        i.place, i.available_at,
        row_number() over (
          partition by coalesce(i.conversation_id, i.subject_id) order by i.available_at desc
        ) as turn
      from (
        select n.ctid as place, n.subject_id, n.available_at, n.conversation_id
        from tacet.inbox n
        where not n.is_claimed and n.available_at <= now()
          and n.available_at >= n.enqueued_at - $8 * interval '1 microsecond'
        order by n.available_at desc
        limit 16 * $1
      ) i
    ), fresh as materialized (
      select i.place
      from (select n.place from newest n order by n.turn, n.available_at desc) n
      cross join lateral (
        select x.ctid as place
        from tacet.inbox x
        where x.ctid = n.place and not x.is_claimed
        limit 1
        for update skip locked
      ) i
      limit $1
    )
    """

  /// Leased events `e` as rows of `work`.
  private static let columnsOfEvents = """
    e.subject_id, e.kind, null::uuid as user_id, e.attempts, e.enqueued_at, '{}'::text[] as accepted_devices,
      0::bigint as held_us, 0 as retries, false as is_waiting, null::text as released_by,
      null::timestamptz as released_at, e.moment, e.told_until
    """
}
