internal import Postgres

extension PushStatements {
  /// Makes sure that a message a webhook named is in the inbox, unless it has been decided, and reads its outcome.
  ///
  /// A message that came by a webhook alone counts as old as its own `created_at` says: nothing better is known, and a
  /// webhook about last year's message must not push it.
  static let ingest = PostgresStatement(
    "ingest",
    """
    with message as materialized (
      select m.created_at from tacet.message_context($1::uuid) m
    ), ledger as materialized (
      select l.user_id, l.decision, l.reason, l.held_until, l.devices_accepted
      from public.push_log l
      where l.subject_id = $1::uuid and l.push_type = 'message'
    ), entry as (
      insert into tacet.inbox (subject_id, kind, enqueued_at)
      select $1::uuid, 'message', case when isfinite(m.created_at) then least(clock_timestamp(), m.created_at) else clock_timestamp() end
      from message m
      where not exists (select from ledger)
      on conflict do nothing
    )
    select
      exists (select from message) or exists (select from ledger) as is_known,
      not exists (select from ledger) as is_pending,
      l.user_id, l.decision, l.reason, (extract(epoch from l.held_until) * 1000000)::bigint as held_until,
      l.devices_accepted::bigint
    from (values (1)) as one
    left join ledger l on true
    order by l.user_id
    """,
    [.uuid])

  /// Where an event of a watched kind stands. Known while its row is there, or the ledger has it; pending while its
  /// inbox row is.
  ///
  /// Nothing is put in the inbox: a webhook says that a row was written, and the kind's own trigger and condition say
  /// whether that was an event.
  ///
  /// `$1`: the subject. `$2`: the kind.
  static let ingestEvent = PostgresStatement(
    "ingest_event",
    """
    with event as materialized (
      select from tacet.watched_context($2, $1)
    )
    select
      exists (select from tacet.kinds k where k.kind = $2) and (exists (select from event) or l.user_id is not null)
        as is_known,
      exists (select from tacet.inbox i where i.subject_id = $1 and i.kind = $2) as is_pending,
      l.user_id, l.decision, l.reason, (extract(epoch from l.held_until) * 1000000)::bigint as held_until,
      l.devices_accepted::bigint
    from (values (1)) as one
    left join public.push_log l on l.subject_id = $1 and l.push_type = $2
    order by l.user_id
    """,
    [.uuid, .text])

  /// What became of an event so far. Pending while its inbox row is there.
  ///
  /// `$1`: the subject. `$2`: the kind.
  static let outcome = PostgresStatement(
    "outcome",
    """
    select
      true as is_known,
      exists (select from tacet.inbox i where i.subject_id = $1 and i.kind = $2) as is_pending,
      l.user_id, l.decision, l.reason, (extract(epoch from l.held_until) * 1000000)::bigint as held_until,
      l.devices_accepted::bigint
    from (values (1)) as one
    left join public.push_log l on l.subject_id = $1 and l.push_type = $2
    order by l.user_id
    """,
    [.uuid, .text])

  /// Microseconds until something becomes due by itself, null when nothing does. What waits for a lane does not.
  static let nextDue = PostgresStatement(
    "next_due",
    """
    select (extract(epoch from least(
      (select min(i.available_at) from tacet.inbox i where not i.is_claimed),
      (select min(i.available_at) from tacet.inbox i where i.is_claimed),
      (select min(d.due_at) from tacet.deliveries d where d.state <> 'waiting')
    ) - now()) * 1000000)::bigint as wait
    """)
}
