internal import Postgres

// What is known of an event long after it happened. Each statement reads one document of JSON, whose members are those of
// the type it is read as. Every look-up has an index and a limit: nothing grows with the ledger, and little with the event.
// Device tokens leave the database as their first eight characters.
extension PushStatements {
  /// The kinds of events that an id is the subject of, chat messages first. `$1`: the id.
  static let explainKinds = PostgresStatement(
    "explain_kinds",
    """
    select k.kind
    from (
      select 'message' as kind where exists (select from tacet.message_context($1))
      union
      select l.push_type from (select l.push_type from public.push_log l where l.subject_id = $1 limit 1000) l
      union
      select i.kind from tacet.inbox i where i.subject_id = $1
      union
      select d.kind from (select d.kind from tacet.deliveries d where d.subject_id = $1 limit 1000) d
      union
      select p.kind from (select p.kind from tacet.parked p where p.subject_id = $1 limit 1000) p
      union
      select p.kind from tacet.pushes p where p.id = $1
      union
      select 'read_sync' from tacet.read_syncs s where s.id = $1
      union
      select w.kind from tacet.kinds w where exists (select from tacet.watched_context(w.kind, $1))
    ) k
    order by k.kind <> 'message', k.kind
    limit 20
    """,
    [.uuid])

  /// An event as a whole. `$1`: the subject. `$2`: its kind.
  ///
  /// All rows of an event have the time of its commit, so any one of them tells it. Parked rows are taken without an order,
  /// here and below: with one, the planner would walk the index of their times while the table looks small.
  static let explainEvent = PostgresStatement(
    "explain_event",
    """
    with subject as (
      select $1::uuid as subject_id, $2::text as kind
    ), source as materialized (
      select m.created_at, m.sender_id
      from subject w
      \(context(of: "w"))
      where m.conversation_id is not null or m.reader_id is not null
      limit 1
    ), inbox as materialized (
      select i.* from tacet.inbox i where i.subject_id = $1 and i.kind = $2
    ), parked as materialized (
      select p.* from tacet.parked p where p.subject_id = $1 and p.kind = $2 limit 1000
    ), logged as materialized (
      select l.enqueued_at, l.history
      from public.push_log l
      where l.subject_id = $1 and l.push_type = $2
      limit \(EventFacts.countMax)
    ), committed as materialized (
      select coalesce(
        (select l.enqueued_at from logged l limit 1), (select i.enqueued_at from inbox i),
        (select p.enqueued_at from parked p limit 1)) as moment
    )
    select jsonb_build_object(
      'now', \(microseconds("clock_timestamp()")),
      'subjectID', $1,
      'kind', $2,
      'source', (
        select jsonb_build_object('createdAt', \(microseconds("s.created_at")), 'actorID', s.sender_id) from source s),
      'inbox', (
        select jsonb_build_object(
          'enqueuedAt', \(microseconds("i.enqueued_at")), 'availableAt', \(microseconds("i.available_at")),
          'attempts', i.attempts, 'rescues', i.rescues, 'isClaimed', i.is_claimed, 'error', i.error)
        from inbox i),
      'parked', (
        select \(parkedDocument) from parked p where p.user_id is null order by p.parked_at desc limit 1),
      'enqueuedAt', (select \(microseconds("c.moment")) from committed c),
      'recordedCount', (select count(*) from logged),
      'recordedClaims', coalesce(
        (
          select jsonb_agg(distinct (h.entry ->> 'claim')::int)
          from logged l
          cross join lateral jsonb_array_elements(l.history) h (entry)
        ),
        '[]'),
      'triggerFailures', coalesce(
        (
          select jsonb_agg(jsonb_build_object(
            'failedAt', \(microseconds("f.failed_at")), 'sqlState', f.sqlstate,
            'concernsEvent', $1 = any (f.subject_ids)))
          from (
            select f.failed_at, f.sqlstate, f.subject_ids
            from (select coalesce((select s.created_at from source s), (select c.moment from committed c)) as moment) t
            join tacet.trigger_failures f
              on f.failed_at between t.moment - interval '10 seconds' and t.moment + interval '60 seconds'
            where f.kind = $2
            order by f.failed_at
            limit 5
          ) f
        ),
        '[]'),
      'trigger', case
        when $2 = 'message' then
          coalesce(
            (
              select t.tgenabled::text from pg_trigger t
              where t.tgrelid = to_regclass('public.messages') and t.tgname = 'tacet_message_inserted'
            ),
            'missing')
      end,
      'watchedSince', (select \(microseconds("m.applied_at")) from tacet.migrations m where m.version = 4),
      'ledgerSince', (select \(microseconds("min(l.enqueued_at)")) from public.push_log l),
      'serviceSeenAt', (select \(microseconds("max(i.seen_at)")) from tacet.instances i)
    )::text
    """,
    [.uuid, .text])

  /// Users and an event, in the order of their ids.
  ///
  /// `$1`: the subject. `$2`: its kind. `$3`, `$4`: the first and the last user; one who is both is answered whatever is
  /// known. `$5`: users at the most.
  static let explainRecipients = PostgresStatement(
    "explain_recipients",
    """
    with subject as (
      select $1::uuid as subject_id, $2::text as kind
    ), present as materialized (
      select v.user_id, coalesce(v.user_id = m.sender_id, false) as is_actor, m.conversation_id
      from subject w
      \(context(of: "w"))
      cross join lateral (
        select p.user_id from \(presence(of: "w")) p where p.user_id >= $3 and p.user_id <= $4
      ) v
      order by v.user_id
      limit $5
    ), parked as materialized (
      select p.*
      from tacet.parked p
      where p.subject_id = $1 and p.kind = $2 and p.user_id >= $3 and p.user_id <= $4
      limit 10 * $5
    ), known as materialized (
      (
        select l.user_id
        from public.push_log l
        where l.subject_id = $1 and l.push_type = $2 and l.user_id >= $3 and l.user_id <= $4
        order by l.user_id
        limit $5
      )
      union
      (
        select d.user_id
        from tacet.deliveries d
        where d.subject_id = $1 and d.kind = $2 and d.user_id >= $3 and d.user_id <= $4
        order by d.user_id
        limit $5
      )
      union
      select p.user_id from parked p
      union
      select p.user_id from present p
      union
      select $3 where $3 = $4
    ), people as materialized (
      select k.user_id from known k order by k.user_id limit $5
    )
    select jsonb_build_object(
      'userID', u.user_id,
      'isParticipant', v.user_id is not null,
      'isActor', coalesce(v.is_actor, false),
      'ledger', (
        select jsonb_build_object(
          'id', l.id, 'decision', l.decision, 'reason', l.reason, 'enqueuedAt', \(microseconds("l.enqueued_at")),
          'claimedAt', \(microseconds("l.claimed_at")), 'heldUntil', \(microseconds("l.held_until")),
          'sentAt', \(microseconds("l.sent_at")), 'wokenBy', l.woken_by, 'devicesAccepted', l.devices_accepted,
          'attempts', l.attempts, 'opened', l.opened, 'openedAt', \(microseconds("l.opened_at")), 'history', l.history)
        from public.push_log l
        where l.subject_id = $1 and l.user_id = u.user_id and l.push_type = $2),
      'delivery', (
        select jsonb_build_object(
          'state', d.state, 'dueAt', \(microseconds("d.due_at")), 'isClaimed', d.is_claimed, 'attempts', d.attempts,
          'rescues', d.rescues, 'lane', d.lane, 'releasedBy', d.released_by,
          'releasedAt', \(microseconds("d.released_at")), 'error', d.error)
        from tacet.deliveries d
        where d.subject_id = $1 and d.user_id = u.user_id and d.kind = $2),
      'parked', (
        select \(parkedDocument)
        from parked p
        where p.user_id = u.user_id
        order by p.parked_at desc
        limit 1),
      'preferences', (
        select jsonb_build_object(
          'isOptedOut', f.is_opted_out, 'isMuted', f.is_muted, 'wantsMentionsOnly', f.mentions_only,
          'quietHoursRemaining', (extract(epoch from f.quiet_hours_remaining) * 1000000)::bigint)
        from tacet.recipient_preferences(u.user_id, $2, v.conversation_id, now()) f),
      'devices', jsonb_build_array()
    )::text
    from people u
    left join present v on v.user_id = u.user_id
    order by u.user_id
    """,
    [.uuid, .text, .uuid, .uuid, .int8])

  /// A time as microseconds since 1970; null for none and for infinity.
  static func microseconds(_ moment: String) -> String {
    "case when isfinite(\(moment)) then (extract(epoch from \(moment)) * 1000000)::bigint end"
  }

  /// A row `p` of what was set aside.
  private static let parkedDocument = """
    jsonb_build_object('parkedAt', \(microseconds("p.parked_at")), 'attempts', p.attempts, 'reason', p.reason)
    """
}
