internal import Postgres

// As in `PushStatements+Explain.swift`: the users whom an event concerns, and whoever is known with it.
extension PushStatements {
  /// Users and an event, in the order of their ids.
  ///
  /// `$1`: the subject. `$2`: its kind. `$3`, `$4`: the first and the last user; one who is both is answered whatever is
  /// known. `$5`: users at the most. `$6`: entries of histories after which no more users are answered. Beside each
  /// document stands how many users there would be without `$6`.
  static let explainRecipients = PostgresStatement(
    "explain_recipients", recipients(present: hostPresent, preferences: hostPreferences),
    [.uuid, .text, .uuid, .uuid, .int8, .int8])

  /// The same without the host: only a server's pushes and read syncs then say whom they concern.
  static let explainRecipientsAlone = PostgresStatement(
    "explain_recipients_alone", recipients(present: ownPresent, preferences: "null"),
    [.uuid, .text, .uuid, .uuid, .int8, .int8])

  private static let hostPresent = """
    select v.user_id, coalesce(v.user_id = m.sender_id, false) as is_actor, m.conversation_id
      from (select $1::uuid as subject_id, $2::text as kind) w
      \(context(of: "w"))
      cross join lateral (
        select p.user_id from \(presence(of: "w")) p where p.user_id >= $3 and p.user_id <= $4
      ) v
      order by v.user_id
      limit $5
    """

  private static let ownPresent = """
    select o.user_id, false as is_actor, null::uuid as conversation_id
      from (
        select p.user_id from tacet.pushes p where p.id = $1 and p.kind = $2
        union all
        select s.user_id from tacet.read_syncs s where s.id = $1 and $2 = 'read_sync'
      ) o
      where o.user_id >= $3 and o.user_id <= $4
    """

  private static let hostPreferences = """
    (
        select jsonb_build_object(
          'isOptedOut', f.is_opted_out, 'isMuted', f.is_muted, 'wantsMentionsOnly', f.mentions_only,
          'quietHoursRemaining', \(quietMicroseconds))
        from tacet.recipient_preferences(u.user_id, $2, v.conversation_id, now()) f)
    """

  private static func recipients(present: String, preferences: String) -> String {
    """
    with present as materialized (
      \(present)
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
    ), counted as materialized (
      select
        p.user_id, count(*) over () as people_count,
        sum(coalesce(jsonb_array_length(l.history), 0)) over (
          order by p.user_id rows between unbounded preceding and 1 preceding) as entries_before
      from people p
      left join public.push_log l on l.subject_id = $1 and l.user_id = p.user_id and l.push_type = $2
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
      'preferences', \(preferences),
      'devices', jsonb_build_array()
    )::text, u.people_count
    from counted u
    left join present v on v.user_id = u.user_id
    where coalesce(u.entries_before, 0) < $6
    order by u.user_id
    """
  }
}
