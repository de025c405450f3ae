internal import Postgres

// What is known of an event long after it happened. Each comes twice: one asks the host's functions as well; the one whose
// name ends in `_alone` reads Tacet's tables only, for an event for which those functions fail. Each statement reads one document of JSON, whose members are those of
// the type it is read as. Every look-up has an index and a limit: nothing grows with the ledger, and little with the event.
// Device tokens leave the database as their first eight characters.
extension PushStatements {
  /// The kinds of events that an id is the subject of, chat messages first. `$1`: the id.
  static let explainKinds = PostgresStatement("explain_kinds", kinds(asksHost: true), [.uuid])

  /// The same without the host.
  static let explainKindsAlone = PostgresStatement("explain_kinds_alone", kinds(asksHost: false), [.uuid])

  private static func kinds(asksHost: Bool) -> String {
    """
    select k.kind
    from (
      \(asksHost ? hostKinds : "")
      select l.push_type as kind from (select l.push_type from public.push_log l where l.subject_id = $1 limit 1000) l
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
    ) k
    order by k.kind <> 'message', k.kind
    limit 20
    """
  }

  private static let hostKinds = """
    select 'message' as kind where exists (select from tacet.message_context($1))
      union
      select w.kind from tacet.kinds w where exists (select from tacet.watched_context(w.kind, $1))
      union
    """

  /// An event as a whole. `$1`: the subject. `$2`: its kind.
  ///
  /// All rows of an event have the time of its commit, so any one of them tells it. Parked rows are taken without an order,
  /// here and below: with one, the planner would walk the index of their times while the table looks small.
  static let explainEvent = PostgresStatement("explain_event", event(source: hostSource), [.uuid, .text])

  /// The same without the host, whose row is then not known.
  static let explainEventAlone = PostgresStatement("explain_event_alone", event(source: noSource), [.uuid, .text])

  private static let hostSource = """
    select m.created_at, m.sender_id
      from (select $1::uuid as subject_id, $2::text as kind) w
      \(context(of: "w"))
      where m.conversation_id is not null or m.reader_id is not null
      limit 1
    """

  private static let noSource = "select null::timestamptz as created_at, null::uuid as sender_id where false"

  private static func event(source: String) -> String {
    """
    with source as materialized (
      \(source)
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
    ), near as (
      select f.failed_at, f.sqlstate, f.subject_ids
      from (select coalesce((select c.moment from committed c), (select s.created_at from source s)) as moment) t
      join tacet.trigger_failures f
        on f.failed_at between t.moment - interval '10 seconds' and t.moment + interval '60 seconds'
      where f.kind = $2
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
            (select n.* from near n where $1 = any (n.subject_ids) order by n.failed_at limit 5)
            union all
            (select n.* from near n where not $1 = any (n.subject_ids) order by n.failed_at limit 5)
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
    """
  }

  /// A time as microseconds since 1970; null for none and for infinity.
  static func microseconds(_ moment: String) -> String {
    "case when isfinite(\(moment)) then (extract(epoch from \(moment)) * 1000000)::bigint end"
  }

  /// A row `p` of what was set aside.
  static let parkedDocument = """
    jsonb_build_object('parkedAt', \(microseconds("p.parked_at")), 'attempts', p.attempts, 'reason', p.reason)
    """
}
