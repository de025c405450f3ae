internal import Postgres

extension PushStatements {
  /// Records a batch of outcomes, queues what remains, and takes finished events from the inbox: one transaction.
  ///
  /// `$1`–`$16` are columns of equal length, one row per recipient; `$17`–`$19` one row per finished event; `$20`–`$22`
  /// one row per device token that APNs has declared dead. No recipient and no event may appear twice.
  ///
  /// The ledger keeps the first final decision, and nothing more is queued after it, except that a later acceptance by one more device counts on top of an
  /// earlier one. An event leaves the inbox only under the claim that decided it: a replica whose lease has run out, and
  /// whose event was claimed again, finishes nothing.
  ///
  /// Times and counts beyond the ledger's columns are cut. After an outage a wake-up can be hours old, and one refused
  /// row would take its whole batch with it.
  static let record = PostgresStatement(
    "record",
    """
    with outcomes as materialized (
      select
        o.*,
        timestamptz 'epoch' + o.claimed_us * interval '1 microsecond' as claimed_at,
        timestamptz 'epoch' + o.enqueued_us * interval '1 microsecond' as enqueued_at,
        timestamptz 'epoch' + (o.claimed_us + o.due_us) * interval '1 microsecond' as due_at
      from unnest(
        $1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[],
        $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::text[], $15::text[], $16::text[]
      ) as o (
        subject_id, kind, user_id, decision, reason, enqueued_us, claimed_us, woken_us,
        decided_us, accepted_us, devices_accepted, attempts, due_us, state, accepted_devices, woken_by
      )
    ), logged as (
      insert into public.push_log as l (
        subject_id, push_type, user_id, decision, reason, enqueued_at, claimed_at, held_until, sent_at,
        woken_microseconds, decided_microseconds, accepted_microseconds, devices_accepted, attempts, woken_by
      )
      select
        o.subject_id, o.kind, o.user_id, o.decision, o.reason, o.enqueued_at, o.claimed_at,
        case when o.decision = 'held' then o.due_at end,
        case when o.decision = 'sent' then o.claimed_at + o.accepted_us * interval '1 microsecond' end,
        least(o.woken_us, 2147483647), least(o.decided_us, 2147483647),
        case when o.accepted_us is not null then least(o.accepted_us, 2147483647) end,
        least(o.devices_accepted, 32767), least(o.attempts, 32767), o.woken_by
      from outcomes o
      on conflict (subject_id, user_id, push_type) do update
      set
        decision = excluded.decision, reason = excluded.reason, claimed_at = excluded.claimed_at,
        held_until = excluded.held_until, sent_at = coalesce(l.sent_at, excluded.sent_at),
        woken_microseconds = excluded.woken_microseconds, decided_microseconds = excluded.decided_microseconds,
        accepted_microseconds = excluded.accepted_microseconds,
        devices_accepted = greatest(l.devices_accepted, excluded.devices_accepted),
        attempts = excluded.attempts, woken_by = excluded.woken_by
      where l.decision = 'held' or excluded.decision = 'sent'
    ), remaining as (
      insert into tacet.deliveries as d (
        subject_id, kind, user_id, due_at, enqueued_at, attempts, state, accepted_devices
      )
      select
        o.subject_id, o.kind, o.user_id, o.due_at, o.enqueued_at, o.attempts, o.state,
        string_to_array(o.accepted_devices, ',')
      from outcomes o
      where o.due_us is not null
        and (o.decision = 'sent' or not exists (
          select from public.push_log l
          where l.subject_id = o.subject_id and l.user_id = o.user_id and l.push_type = o.kind
            and l.decision <> 'held'))
      on conflict (subject_id, user_id, kind) do update
      set due_at = excluded.due_at, state = excluded.state, accepted_devices = excluded.accepted_devices
    ), done as (
      delete from tacet.deliveries d
      using outcomes o
      where o.due_us is null and d.subject_id = o.subject_id and d.user_id = o.user_id and d.kind = o.kind
    ), finished as (
      delete from tacet.inbox i
      using unnest($17::uuid[], $18::text[], $19::bigint[]) as f (subject_id, kind, attempts)
      where i.subject_id = f.subject_id and i.kind = f.kind and i.attempts = f.attempts
    ), dropped as (
      select tacet.invalidate_device_token(
        t.device_token, t.reason, timestamptz 'epoch' + t.since_us * interval '1 microsecond')
      from unnest($20::text[], $21::text[], $22::bigint[]) as t (device_token, reason, since_us)
    )
    select count(*) from dropped
    """,
    recordParameterTypes)

  private static let recordParameterTypes: [PostgresType] =
    [.uuid, .text, .uuid, .text, .text].map { .array(of: $0) }
    + [PostgresType](repeating: .array(of: .int8), count: 8)
    + [.text, .text, .text, .uuid, .text, .int8, .text, .text, .int8].map { .array(of: $0) }
}
