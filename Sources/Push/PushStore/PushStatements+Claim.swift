internal import APNSCore
internal import Postgres

extension PushStatements {
  /// Leases what is waiting and returns, in the same round trip, everything the rules and the composer need.
  static let claim = PostgresStatement(
    "claim",
    picking + ", "
      + looking(context: context(of: "w"), presence: { presence(of: "w", part: $0) }, recipientsMax: "$4"),
    pickingParameterTypes)

  /// ``claim`` of new messages alone, which is nearly all there ever is.
  ///
  /// Before a statement runs, the executor sets up every node of its plan, whether it comes to be used or not: for a single
  /// message that takes several times as long as the rest. So this one has what messages need and nothing else: who stands
  /// in the ledger already is a list beside each message, which is empty unless the message came back; in order, so that
  /// each recipient is found by bisection: one after the other takes seconds for a large room that comes back.
  static let claimMessages = PostgresStatement(
    "claim_messages",
    pickingMessages + ", "
      + looking(
        context: contextOfMessage(of: "w"), presence: { "(\(participants(part: $0)))" }, recipientsMax: "$3",
        ledger: LedgerLook(isNew: "w.recorded[width_bucket(v.user_id, w.recorded)] is distinct from v.user_id"),
        acceptedDevices: "w.accepted_devices"),
    pickingMessagesParameterTypes)

  /// Leases what is waiting and names it, for a claim that cannot look at everything at once.
  static let lease = PostgresStatement(
    "lease", picking + " select w.subject_id, w.kind, w.user_id from work w", pickingParameterTypes)

  /// Looks at one leased event.
  ///
  /// `$1`: the subject. `$2`: its kind. `$3`: recipients at the most.
  static let lookAtEvent = PostgresStatement(
    "look_at_event",
    """
    with work as (
      select
        i.subject_id, i.kind, null::uuid as user_id, i.attempts, i.enqueued_at, '{}'::text[] as accepted_devices,
        0::bigint as held_us, 0 as retries, false as is_waiting, null::text as released_by,
        null::timestamptz as released_at, clock_timestamp() as moment, i.told_until
      from tacet.inbox i
      where i.subject_id = $1 and i.kind = $2
    ), \(looking(context: context(of: "w"), presence: { presence(of: "w", part: $0) }, recipientsMax: "$3"))
    """,
    [.uuid, .text, .int8])

  /// Looks at one leased delivery.
  ///
  /// `$1`: the subject. `$2`: its kind. `$3`: the user.
  static let lookAtDelivery = PostgresStatement(
    "look_at_delivery",
    """
    with work as (
      select
        d.subject_id, d.kind, d.user_id, d.attempts, d.enqueued_at, d.accepted_devices,
        \(heldMicroseconds) as held_us, d.retries, d.state = 'waiting' as is_waiting, d.released_by,
        d.released_at, clock_timestamp() as moment, null::uuid as told_until
      from tacet.deliveries d
      where d.subject_id = $1 and d.kind = $2 and d.user_id = $3
    ), \(looking(context: context(of: "w"), presence: { presence(of: "w", part: $0) }, recipientsMax: "1"))
    """,
    [.uuid, .text, .uuid])

  /// How long a delivery has been held on purpose, as of now.
  static let heldMicroseconds = """
    d.held_us + case when d.state = 'held' then (extract(epoch from now() - d.since) * 1000000)::bigint else 0 end
    """

  /// Whether a participant `s` has left the conversation of a message `m` since the last sign of presence there. Reading
  /// the newest other message stands in for looks that are not reported, also for what was left since.
  /// - Parameter now: the moment after which dates prove nothing.
  static func hasLeft(asOf now: String) -> String {
    """
    s.left_at <= \(now) and s.left_at >= coalesce(
          \(past("s.last_seen", asOf: now)),
          case when s.user_id = any (m.prior_read_by) then \(past("m.prior_touched_at", asOf: now)) end)
    """
  }

  /// Whether a participant `s` was seen after the message `m` of `row` came. A date of the message that lies in the future
  /// says nothing about when it came.
  static func sawAfterMessage(of row: String, asOf now: String) -> String {
    "s.last_seen > greatest(\(past("m.created_at", asOf: now)), \(row).enqueued_at) and s.last_seen <= \(now)"
  }

  /// A time that lies in the past; null for any other, and for infinity.
  private static func past(_ time: String, asOf now: String) -> String {
    "case when \(time) > '-infinity' and \(time) <= \(now) then \(time) end"
  }

  /// How long quiet hours last by preferences `f`, in microseconds; two days at the most, after which they are asked for
  /// again: an interval of the host's may be longer than a number holds.
  static let quietMicroseconds = """
    case when f.quiet_hours_remaining > interval '0'
          then (extract(epoch from least(f.quiet_hours_remaining, interval '2 days')) * 1000000)::bigint
        end
    """

  /// What the rules and the composer need of `work`: a row for each recipient, or one for an event that has none.
  ///
  /// A recipient who already stands in the ledger is left out of an event, whatever brought the event back; so a large
  /// event is taken in several claims, so many at a time, in the order of their ids: a part begins where the last one ended,
  /// and costs what it takes. A part that is full has no badges, because counting for each member of a large room would keep
  /// everybody else waiting.
  ///
  /// The words of an event stand in its first row alone: 250 recipients need them once. What the host's functions return is
  /// bounded here and in ``context(of:)``, so that functions which a host has replaced are bounded too.
  ///
  /// All ages are the database's own clock, none is computed anywhere else; it is read after the snapshot was taken, because
  /// what was committed before the snapshot must not lie in the future. In the order of their commits, but for what waited
  /// for its lane. The last column is the clock once more, when the row is answered: what the look itself has taken is known
  /// by it.
  ///
  /// - Parameters:
  ///   - context: joins `m`, what is known of the event of `w`. presence: a part of those whom it concerns.
  ///   - recipientsMax: how many of them at the most, of each event.
  ///   - ledger: how it is known who of them stands there already.
  ///   - acceptedDevices: the devices that have the push of `w` already.
  private static func looking(
    context: String, presence: (_ part: String) -> String, recipientsMax: String, ledger: LedgerLook = .ofEvents,
    acceptedDevices: String = acceptedDevices
  ) -> String {
    """
    \(ledger.preparation)situations as (
      select
        w.subject_id,
        w.kind,
        w.attempts,
        w.user_id is not null as is_delivery,
        (extract(epoch from w.enqueued_at) * 1000000)::bigint as enqueued_at,
        (extract(epoch from w.moment) * 1000000)::bigint as claimed_at,
        m.conversation_id,
        case when s.place > 1 then null else m.sender_name end as sender_name,
        case when s.place > 1 then null else m.body end as body,
        coalesce(s.user_id, w.user_id) as user_id,
        s.user_id is not null as is_participant,
        coalesce(s.user_id = any (m.read_by), false) as has_read,
        case when isfinite(s.last_seen)
          then (extract(epoch from w.moment - s.last_seen) * 1000000)::bigint
        end as last_seen_age,
        coalesce(\(sawAfterMessage(of: "w", asOf: "w.moment")), false) as saw_after_message,
        coalesce(\(hasLeft(asOf: "w.moment")), false) as has_left,
        case when s.user_id = any (m.prior_read_by) and isfinite(m.prior_touched_at)
          then (extract(epoch from w.moment - m.prior_touched_at) * 1000000)::bigint
        end as prior_read_age,
        case when s.places < \(recipientsMax) or s.user_id = w.user_id then tacet.unread_count(s.user_id) end as badge,
        coalesce(t.device_tokens, '{}') as device_tokens,
        coalesce(t.environments, '{}') as environments,
        coalesce(t.apps, '{}') as apps,
        \(acceptedDevices) as accepted_devices,
        w.held_us,
        w.retries,
        w.is_waiting,
        case when s.place > 1 then null else m.title end as title,
        m.surface_kind,
        m.read_message_ids,
        m.has_read_more,
        coalesce(f.is_opted_out, false) as is_opted_out,
        coalesce(f.is_muted, false) as is_muted,
        coalesce(f.mentions_only, false) as mentions_only,
        case when f.mentions_only then coalesce(tacet.is_mentioned(w.subject_id, s.user_id), false) else false end
          as is_mentioned,
        \(quietMicroseconds) as quiet_hours_remaining,
        left(coalesce(m.quiet_policy, f.quiet_hours_policy), 16) as quiet_hours_policy,
        case when s.place > 1 then null else m.data end as data,
        m.collapse_id,
        left(w.released_by, 32) as released_by,
        (extract(epoch from w.released_at) * 1000000)::bigint as released_at,
        (extract(epoch from least(w.enqueued_at, case when isfinite(m.created_at) then m.created_at end)) * 1000000)::bigint
          as dated_at,
        s.place
      from work w
      \(context)
      left join lateral (
        select r.user_id, r.last_seen, r.left_at, row_number() over () as place, count(*) over () as places
        from (
          select v.user_id, v.last_seen, v.left_at
          from \(presence(part(recipientsMax, ledger))) v
          order by v.user_id
          limit \(recipientsMax)
        ) r
      ) s on true
      left join lateral (
        select
          array_agg(n.device_token) as device_tokens,
          array_agg(left(coalesce(n.environment, ''), 32)) as environments,
          array_agg(left(coalesce(n.app, ''), \(BundleIdentifier.bytesMax + 1))) as apps
        from (
          select d.device_token, d.environment, d.app
          from tacet.device_tokens(s.user_id) d
          where octet_length(d.device_token) <= \(DeviceToken.digitsMax)
            and (m.reading_device is null or lower(d.device_token) <> lower(m.reading_device))
          limit \(ClaimLimits.devicesMax)
        ) n
      ) t on s.user_id is not null
      left join lateral tacet.recipient_preferences(s.user_id, w.kind, m.conversation_id, w.moment) f
        on s.user_id is not null and w.kind <> 'read_sync'
    )
    select *, (extract(epoch from clock_timestamp()) * 1000000)::bigint as answered_at
    from situations o
    order by
      o.is_delivery, o.is_waiting, case when o.is_waiting then - o.enqueued_at else o.enqueued_at end, o.subject_id,
      o.kind, o.user_id, o.place
    """
  }

  /// The devices that have the push of `w` already, as many as are asked for: first those that the user still has.
  private static let acceptedDevices = """
    case when w.accepted_devices = '{}' then w.accepted_devices else array(
          select left(a.token, \(DeviceToken.digitsMax))
          from unnest(w.accepted_devices) as a (token)
          order by coalesce(a.token = any (t.device_tokens), false) desc
          limit \(ClaimLimits.devicesMax)
        ) end
    """

  /// Which of those whom an event of `work` concerns are asked for next.
  private static func part(_ recipientsMax: String, _ ledger: LedgerLook) -> String {
    """
    v.user_id is distinct from m.sender_id
      and v.user_id >= coalesce(w.user_id, w.told_until, '00000000-0000-0000-0000-000000000000')
      and v.user_id <= coalesce(w.user_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      and (w.user_id is not null or \(ledger.isNew))
    order by v.user_id
    limit \(recipientsMax)
    """
  }
}
