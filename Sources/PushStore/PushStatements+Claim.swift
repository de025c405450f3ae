internal import Postgres

extension PushStatements {
  /// Leases what is waiting and returns, in the same round trip, everything the rules and the composer need.
  ///
  /// The common table expressions that lock are materialized, so that the planner cannot run the `limit` more than
  /// once; rows another replica is claiming are skipped. Events come first: fresh work is not kept waiting by retries.
  /// A recipient who already stands in the ledger is left out, whatever brought the event back.
  ///
  /// - `$1`: events at the most. `$2`: deliveries at the most. `$3`: the lease in microseconds.
  ///
  /// All ages are the database's own clock at the start of the statement; none is computed anywhere else.
  static let claim = PostgresStatement(
    "claim",
    """
    with picked_events as materialized (
      select i.subject_id, i.kind
      from tacet.inbox i
      where i.available_at <= now()
      order by i.available_at
      limit $1
      for update skip locked
    ), events as (
      update tacet.inbox i
      set available_at = now() + $3::bigint * interval '1 microsecond', attempts = i.attempts + 1
      from picked_events p
      where i.subject_id = p.subject_id and i.kind = p.kind
      returning i.subject_id, i.kind, i.attempts, i.enqueued_at
    ), picked_deliveries as materialized (
      select d.subject_id, d.user_id, d.kind
      from tacet.deliveries d
      where d.due_at <= now()
      order by d.due_at
      limit $2
      for update skip locked
    ), due as (
      update tacet.deliveries d
      set due_at = now() + $3::bigint * interval '1 microsecond', attempts = d.attempts + 1
      from picked_deliveries p
      where d.subject_id = p.subject_id and d.user_id = p.user_id and d.kind = p.kind
      returning d.subject_id, d.user_id, d.kind, d.attempts, d.enqueued_at, d.accepted_devices
    ), work as (
      select e.subject_id, e.kind, null::uuid as user_id, e.attempts, e.enqueued_at, '{}'::text[] as accepted_devices
      from events e
      union all
      select d.subject_id, d.kind, d.user_id, d.attempts, d.enqueued_at, d.accepted_devices
      from due d
    )
    select
      w.subject_id,
      w.kind,
      w.attempts,
      w.user_id is not null as is_delivery,
      (extract(epoch from w.enqueued_at) * 1000000)::bigint as enqueued_at,
      (extract(epoch from now()) * 1000000)::bigint as claimed_at,
      m.conversation_id,
      m.sender_name,
      m.body,
      coalesce(s.user_id, w.user_id) as user_id,
      s.user_id is not null as is_participant,
      coalesce(s.user_id = any (m.read_by), false) as has_read,
      (extract(epoch from now() - s.last_seen) * 1000000)::bigint as last_seen_age,
      coalesce(s.last_seen > greatest(m.created_at, w.enqueued_at), false) as saw_after_message,
      coalesce(s.left_at >= s.last_seen, false) as has_left,
      case when s.user_id = any (m.prior_read_by)
        then (extract(epoch from now() - m.prior_touched_at) * 1000000)::bigint
      end as prior_read_age,
      case when s.user_id is not null then tacet.unread_count(s.user_id) end as badge,
      coalesce(t.device_tokens, '{}') as device_tokens,
      coalesce(t.environments, '{}') as environments,
      w.accepted_devices
    from work w
    left join lateral tacet.message_context(w.subject_id) m on true
    left join lateral (
      select v.user_id, v.last_seen, v.left_at
      from tacet.seen_by(m.conversation_id) v
      left join public.push_log l
        on w.user_id is null and l.subject_id = w.subject_id and l.user_id = v.user_id and l.push_type = w.kind
      where v.user_id is distinct from m.sender_id
        and l.id is null
        and (w.user_id is null or v.user_id = w.user_id)
    ) s on true
    left join lateral (
      select array_agg(d.device_token) as device_tokens, array_agg(coalesce(d.environment, '')) as environments
      from tacet.device_tokens(s.user_id) d
    ) t on s.user_id is not null
    order by w.user_id is not null, w.enqueued_at, w.subject_id
    """,
    [.int8, .int8, .int8])
}
