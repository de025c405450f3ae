internal import Postgres

// What is taken with a limit is addressed by its place (`ctid`), as in ``PushStatements/picking``: joined, the planner may
// run the limited part once for each row of a table that it takes for empty. A row that changed since it was seen has
// moved, and is left to the next look.
extension PushStatements {
  /// Notes why an event could not be looked at. `$1`: the subject. `$2`: its kind. `$3`: the error.
  static let noteEventError = PostgresStatement(
    "note_event_error",
    "update tacet.inbox i set error = $3 where i.subject_id = $1 and i.kind = $2 and i.is_claimed",
    [.uuid, .text, .text])

  /// Notes why a delivery could not be looked at. `$1`: the subject. `$2`: its kind. `$3`: the user. `$4`: the error.
  static let noteDeliveryError = PostgresStatement(
    "note_delivery_error",
    """
    update tacet.deliveries d set error = $4
    where d.subject_id = $1 and d.kind = $2 and d.user_id = $3 and d.is_claimed
    """,
    [.uuid, .text, .uuid, .text])

  /// Gives a leased event back that nobody is to blame for, so that the lease does not count as one that ran out.
  ///
  /// `$1`: the subject. `$2`: its kind. `$3`: the error. `$4`: how long it is left alone, in microseconds.
  static let giveBackEvent = PostgresStatement(
    "give_back_event",
    """
    update tacet.inbox i set is_claimed = false, available_at = now() + $4 * interval '1 microsecond', error = $3
    where i.subject_id = $1 and i.kind = $2 and i.is_claimed
    """,
    [.uuid, .text, .text, .int8])

  /// As ``giveBackEvent``, of a delivery. `$5`: the user.
  static let giveBackDelivery = PostgresStatement(
    "give_back_delivery",
    """
    update tacet.deliveries d set is_claimed = false, due_at = now() + $4 * interval '1 microsecond', error = $3
    where d.subject_id = $1 and d.kind = $2 and d.user_id = $5 and d.is_claimed
    """,
    [.uuid, .text, .text, .int8, .uuid])

  /// Parks events and deliveries whose leases ran out too often.
  ///
  /// `$1`: rescues after which work is parked. `$2`: rows of each table at the most. Answers the number parked.
  static let parkExhausted = PostgresStatement(
    "park_exhausted",
    """
    with events as (
      delete from tacet.inbox i
      where i.ctid = any (array(
        select x.ctid
        from tacet.inbox x
        where x.is_claimed and x.rescues >= $1 and x.available_at <= now()
        limit $2
        for update skip locked
      ))
      returning i.*
    ), deliveries as (
      delete from tacet.deliveries d
      where d.ctid = any (array(
        select x.ctid
        from tacet.deliveries x
        where x.rescues > 1 and x.rescues >= $1 and x.due_at <= now()
        limit $2
        for update skip locked
      ))
      returning
        d.subject_id, d.user_id, d.kind, d.conversation_id, d.enqueued_at, d.attempts, \(heldMicroseconds) as held_us,
        d.accepted_devices, d.error
    ), \(parking)
    """,
    [.int8, .int8])

  /// Parks one event or delivery whose record the database refuses, under the claim that decided it.
  ///
  /// `$1`: the subject. `$2`: its kind. `$3`: the user, null for an event. `$4`: the claim's attempts. `$5`: the reason.
  static let parkRefused = PostgresStatement(
    "park_refused",
    """
    with events as (
      delete from tacet.inbox i
      where $3::uuid is null and i.subject_id = $1 and i.kind = $2 and i.attempts = $4 and i.is_claimed
      returning i.subject_id, i.kind, i.conversation_id, i.enqueued_at, i.attempts, $5::text as error
    ), deliveries as (
      delete from tacet.deliveries d
      where d.user_id = $3 and d.subject_id = $1 and d.kind = $2 and d.attempts = $4 and d.is_claimed
      returning
        d.subject_id, d.user_id, d.kind, d.conversation_id, d.enqueued_at, d.attempts, \(heldMicroseconds) as held_us,
        d.accepted_devices, $5::text as error
    ), \(parking)
    """,
    [.uuid, .text, .uuid, .int8, .text])

  /// Moves deleted `events` and `deliveries` to the parked rows. Somebody who is told nothing more has a failed push;
  /// one that reached a device stays sent. The time of a hold that is under way goes along: a replay does not count it as
  /// the message's age.
  private static let parking = """
    parked as (
      insert into tacet.parked (
        subject_id, user_id, kind, conversation_id, enqueued_at, attempts, held_us, reason, accepted_devices
      )
      select
        e.subject_id, null::uuid, e.kind, e.conversation_id, e.enqueued_at, e.attempts, 0::bigint,
        coalesce(e.error, 'claimed too often without a record'), '{}'::text[]
      from events e
      union all
      select
        d.subject_id, d.user_id, d.kind, d.conversation_id, d.enqueued_at, d.attempts, d.held_us,
        coalesce(d.error, 'claimed too often without a record'), d.accepted_devices
      from deliveries d
      returning 1
    ), failed as (
      update public.push_log l
      set decision = 'failed', reason = 'parked', held_until = null
      from deliveries d
      where l.subject_id = any (array(select x.subject_id from deliveries x))
        and l.subject_id = d.subject_id and l.user_id = d.user_id and l.push_type = d.kind and l.decision = 'held'
    )
    select count(*) from parked
    """

  /// Enqueues events that a trigger could not. What has been recorded meanwhile finds nobody left to tell.
  ///
  /// `$1`: failures at the most. Answers the number of events found.
  static let enqueueMissed = PostgresStatement(
    "enqueue_missed",
    """
    with missed as (
      update tacet.trigger_failures f
      set subject_ids = '{}'
      from (
        select x.ctid as place, x.subject_ids, x.kind, x.failed_at
        from tacet.trigger_failures x
        where x.subject_ids <> '{}' and x.kind <> 'erasure'
        order by x.failed_at
        limit $1
        for update skip locked
      ) x
      where f.ctid = x.place
      returning x.subject_ids, x.kind, x.failed_at
    ), enqueued as (
      insert into tacet.inbox (subject_id, kind, enqueued_at)
      select s.subject_id, m.kind, m.failed_at from missed m, unnest(m.subject_ids) as s (subject_id)
      on conflict do nothing
    )
    select coalesce(sum(cardinality(m.subject_ids)), 0)::bigint from missed m
    """,
    [.int8])

  /// Makes what waited for its lane longer than a push is worth claimable, so that it is recorded as expired. So it does
  /// with what a service of an older version left for a lane of an old name, which nobody serves.
  ///
  /// `$1`: the message's life in microseconds. `$2`: rows at the most. Answers the number of rows; none while another process
  /// does the same. The index by age is read from its old end, and the names of the lanes one by one, so a look that
  /// finds nothing costs the same however much waits.
  static let releaseExpired = PostgresStatement(
    "release_expired",
    """
    with recursive turn as materialized (
      select pg_try_advisory_xact_lock(1952539493, 3) as is_ours
    ), \(laneNames), expired as materialized (
      select x.ctid as place
      from tacet.deliveries x
      where (select t.is_ours from turn t) and x.state = 'waiting' and not x.is_claimed
        and x.enqueued_at - timestamptz 'epoch' + x.held_us * interval '1 microsecond'
          < now() - timestamptz 'epoch' - $1 * interval '1 microsecond'
      order by x.enqueued_at - timestamptz 'epoch' + x.held_us * interval '1 microsecond'
      limit $2
      for update skip locked
    ), unserved as materialized (
      select w.place
      from lane_names n
      cross join lateral (
        select x.ctid as place
        from tacet.deliveries x
        where x.state = 'waiting' and x.lane = n.lane and not x.is_claimed
        limit $2
        for update skip locked
      ) w
      where (select t.is_ours from turn t) and strpos(n.lane, '/') = 0
    ), released as (
      update tacet.deliveries d
      set state = 'retryable', lane = null, due_at = now()
      where d.ctid = any (array(
        select e.place from expired e
        union
        select u.place from unserved u
        limit $2
      ))
      returning 1
    )
    select count(*) from released
    """,
    [.int8, .int8])

  /// Deletes messages that were too old when they were enqueued: a host has loaded what is no news. Nobody is told of them,
  /// so they leave no rows in the ledger. Their moments of availability are their own dates, at the old end of the index.
  ///
  /// `$1`: a message's life in microseconds. `$2`: rows at the most. Answers the number of rows.
  static let discardTooOld = PostgresStatement(
    "discard_too_old",
    """
    with discarded as (
      delete from tacet.inbox i
      where i.ctid = any (array(
        select x.ctid
        from tacet.inbox x
        where not x.is_claimed and x.available_at < now() - $1 * interval '1 microsecond'
          and x.available_at < x.enqueued_at - $1 * interval '1 microsecond'
        order by x.available_at
        limit $2
        for update skip locked
      ))
      returning 1
    )
    select count(*) from discarded
    """,
    [.int8, .int8])

  /// Makes the holds due that a host's transaction could not release, because its snapshot was older than their last change.
  ///
  /// `$1`: releases at the most. Answers the number of releases; that of holds is no larger.
  static let releaseQueued = PostgresStatement(
    "release_queued",
    """
    with queued as (
      delete from tacet.releases r
      where r.ctid = any (array(
        select x.ctid from tacet.releases x order by x.queued_at limit $1 for update skip locked))
      returning r.subject_id, r.user_id, r.cause
    ), released as materialized (
      select tacet.release_holds(array_agg(q.subject_id), array_agg(q.user_id), array_agg(q.cause)), count(*) as releases
      from queued q
    )
    select r.releases from released r
    """,
    [.int8])

  /// Makes events available that seem to come from the future, because the clock was set back: nobody has claimed them, and
  /// none is enqueued for later but what other devices are told of reads.
  static let bringForward = PostgresStatement(
    "bring_forward",
    """
    update tacet.inbox i
    set available_at = now()
    where not i.is_claimed and i.available_at > now() and i.kind <> 'read_sync'
    """)
}
