internal import Postgres

extension PushStatements {
  /// Deletes rows of users who are to be forgotten, as `0024_erasure.sql` tells.
  ///
  /// `$1`: users at the most. `$2`: rows of each table at the most. `$3`: microseconds after the first pass from which a
  /// clean one is the last. Answers rows deleted, users done with, and whether to come again at once.
  static let eraseUsers = PostgresStatement(
    "erase_users",
    """
    select r.erased, r.finished, r.has_more
    from tacet.erase_users($1::int, $2::int, $3 * interval '1 microsecond') r
    """,
    [.int8, .int8, .int8])

  /// Notes users who are gone from `auth.users`. `$1`: after which id. `$2`: users at the most. Answers the last id, null at
  /// the end.
  static let noteGoneUsers = PostgresStatement(
    "note_gone_users", "select tacet.note_gone_users($1, $2::int)", [.uuid, .int8])

  /// Deleted users of whom something is still kept ten minutes later, and how long ago the first was deleted, in
  /// microseconds.
  static let examineErasures = PostgresStatement(
    "examine_erasures",
    """
    select count(*) as users, (extract(epoch from clock_timestamp() - min(o.asked_at)) * 1000000)::bigint as age
    from (
      select e.asked_at
      from tacet.erasures e
      where not e.is_clean and e.asked_at < clock_timestamp() - interval '10 min'
      order by e.due_at
      limit \(examinedRowsMax)
    ) o
    """)
}
