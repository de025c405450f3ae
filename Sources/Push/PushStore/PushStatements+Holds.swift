internal import Postgres

extension PushStatements {
  /// Makes holds due about which something was learnt while they were being recorded.
  ///
  /// A host's transaction that changes presence sees no hold that is not committed yet, and the claim sees nothing of
  /// that transaction before it commits; between the two a reason to look again can fall. So every new hold is held
  /// against the facts once more, a moment after its record.
  ///
  /// That somebody has left ends a hold for presence alone: quiet hours last all the same, and the hold that they bring
  /// anew would be released again at every review. New preferences end any hold. They count for some seconds longer than
  /// they are new, because `changed_at` lies before their commit; meanwhile the hold may be reviewed again a few times.
  ///
  /// `$1`–`$3`: subjects, kinds and users, in columns of equal length. Answers the number of holds released, and which
  /// transactions this look may have missed: the oldest that was running, and the next to begin.
  static let reviewHolds = PostgresStatement(
    "review_holds",
    """
    with released as (
      update tacet.deliveries d
      set due_at = now(), released_at = now(), released_by = 'review'
      from (
        select x.subject_id, x.user_id, x.kind
        from unnest($1, $2, $3) as h (subject_id, kind, user_id)
        join tacet.deliveries x on x.subject_id = h.subject_id and x.user_id = h.user_id and x.kind = h.kind
        \(context(of: "x"))
        left join lateral (
          select v.user_id, v.last_seen, v.left_at
          from \(presence(of: "x")) v
          where v.user_id = x.user_id
        ) s on true
        where x.state = 'held' and not x.is_claimed and x.due_at > now()
          and (
            s.user_id is null
            or s.user_id = any (m.read_by)
            or \(hasLeft(asOf: "now()")) and exists (
              select
              from public.push_log l
              where l.subject_id = x.subject_id and l.user_id = x.user_id and l.push_type = x.kind
                and l.reason = 'user_viewing')
            or \(sawAfterMessage(of: "x", asOf: "now()"))
            or exists (
              select
              from tacet.preferences p
              where p.user_id = x.user_id and p.changed_at > x.since - interval '5 seconds')
          )
        for update of x skip locked
      ) x
      where d.subject_id = x.subject_id and d.user_id = x.user_id and d.kind = x.kind
      returning 1
    )
    select
      (select count(*) from released),
      pg_snapshot_xmin(pg_current_snapshot())::text::bigint as oldest_running,
      pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next_to_begin
    """,
    [.array(of: .uuid), .array(of: .text), .array(of: .uuid)])
}
