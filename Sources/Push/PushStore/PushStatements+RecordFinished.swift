internal import Postgres

extension PushStatements {
  /// ``record`` of events that are over with it, which nearly all are: nothing remains for any recipient, no more recipients
  /// are to come, and nothing was learnt about device tokens. For these it does the same.
  ///
  /// As with ``claimMessages``, setting up the plan of the whole statement takes longer than running this one.
  ///
  /// `$1`–`$16` are columns of equal length, one row per recipient; `$17`–`$19` one row per event.
  ///
  /// - Returns the events that it has taken from the inbox. Those whose claim is no longer ours are left out, whole: only
  ///   ``record`` knows what may be added to somebody else's.
  /// - Events are locked in the order of their keys, as there.
  static let recordFinished = PostgresStatement(
    "record_finished",
    """
    with ours as materialized (
      select e.subject_id, e.kind
      from (
        select * from unnest($17, $18, $19) as e (subject_id, kind, attempts) order by e.subject_id, e.kind
      ) e
      cross join lateral (
        \(ownClaim)
      ) i
    ), taken as (
      delete from tacet.inbox i
      where i.subject_id = any ($17)
        and ((i.subject_id, i.kind) in (select u.subject_id, u.kind from ours u)) is true
      returning i.subject_id, i.kind
    ), logged as (
      insert into public.push_log as l (\(ledgerColumns))
      select
        o.log_id, o.subject_id, o.kind, o.user_id, o.decision, o.reason,
        timestamptz 'epoch' + o.enqueued_us * interval '1 microsecond',
        timestamptz 'epoch' + o.claimed_us * interval '1 microsecond',
        null,
        case when o.decision = 'sent'
          then timestamptz 'epoch' + (o.claimed_us + o.accepted_us) * interval '1 microsecond'
        end,
        \(ledgerMeasures)
      from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) as o (
        subject_id, kind, user_id, decision, reason, enqueued_us, claimed_us, woken_us, decided_us, accepted_us,
        devices_accepted, attempts, woken_by, log_id, content, history
      )
      where ((o.subject_id, o.kind) in (select t.subject_id, t.kind from taken t)) is true
      order by o.subject_id, o.user_id, o.kind
      \(ledgerConflict)
    )
    select t.subject_id, t.kind from taken t
    """,
    [.uuid, .text, .uuid, .text, .text].map { .array(of: $0) }
      + [PostgresType](repeating: .array(of: .int8), count: 7)
      + [.text, .uuid, .text, .text, .uuid, .text, .int4].map { .array(of: $0) })

  /// The reason of the last attempt that the ledger tells of, for those who have one.
  ///
  /// `$1`, `$2`: subject and kind. `$3`: users.
  static let lastFailures = PostgresStatement(
    "last_failures",
    """
    select f.user_id, f.reason
    from (
      select
        l.user_id,
        jsonb_path_query_array(l.history, '$[*].attempts[*] ? (exists (@.apns_id))') -> -1 ->> 'reason' as reason
      from public.push_log l
      where l.subject_id = $1 and l.push_type = $2 and l.user_id = any ($3)
    ) f
    where f.reason is not null
    """,
    [.uuid, .text, .array(of: .uuid)])

  /// What a record writes into the ledger.
  static let ledgerColumns = """
    id, subject_id, push_type, user_id, decision, reason, enqueued_at, claimed_at, held_until, sent_at,
    woken_microseconds, decided_microseconds, accepted_microseconds, devices_accepted, attempts, woken_by, content, history, metadata
    """

  /// Those of the ``ledgerColumns`` that follow the times, of an outcome `o`. Cut at what the columns hold. Only pushes with
  /// words of our own may have metadata, and only for them is it looked up.
  static let ledgerMeasures = """
    least(o.woken_us, 2147483647), least(o.decided_us, 2147483647),
    case when o.accepted_us is not null then least(o.accepted_us, 2147483647) end,
    least(o.devices_accepted, 32767), least(o.attempts, 32767), o.woken_by, o.content,
    case when o.history is null then '[]' else jsonb_build_array(o.history::jsonb) end,
    coalesce(
      case when o.content is not null then (select p.metadata from tacet.pushes p where p.id = o.subject_id) end, '{}')
    """

  /// What becomes of a row of the ledger `l` that is there already.
  static let ledgerConflict = """
    on conflict (subject_id, user_id, push_type) do update
    set
      decision = excluded.decision, reason = excluded.reason, claimed_at = excluded.claimed_at,
      held_until = excluded.held_until, sent_at = coalesce(l.sent_at, excluded.sent_at),
      woken_microseconds = excluded.woken_microseconds, decided_microseconds = excluded.decided_microseconds,
      accepted_microseconds = excluded.accepted_microseconds,
      devices_accepted = greatest(l.devices_accepted, excluded.devices_accepted),
      attempts = excluded.attempts, woken_by = excluded.woken_by,
      history = case
        when l.history @> jsonb_build_array(jsonb_build_object('claim', excluded.history -> 0 -> 'claim')) then l.history
        when jsonb_array_length(l.history) < \(HistoryEntry.keptMax) then l.history || excluded.history
        else (l.history - \(HistoryEntry.keptMax / 2)) || excluded.history
      end
    where l.decision = 'held' or excluded.decision = 'sent'
    """
}
