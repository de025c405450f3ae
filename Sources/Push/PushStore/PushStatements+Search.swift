internal import Postgres

// Pages of the ledger for operators, by key: what comes next begins behind the last row that was shown.
extension PushStatements {
  /// The newest rows of the ledger. `$1`: how many.
  static let newestPushes = PostgresStatement(
    "newest_pushes", "select \(entryColumns) from public.push_log l order by l.enqueued_at desc limit $1", [.int8])

  /// A user's pushes, the newest first. `$1`: the user. `$2` and `$3`: time and id of the last one that was shown, null for
  /// the first page. `$4`: how many.
  static let pushesOfUser = PostgresStatement(
    "pushes_of_user",
    """
    select \(entryColumns)
    from public.push_log l
    where l.user_id = $1
      and (l.enqueued_at, l.id) < (
        coalesce(timestamptz 'epoch' + $2 * interval '1 microsecond', 'infinity'),
        coalesce($3, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by l.enqueued_at desc, l.id desc
    limit $4
    """,
    [.uuid, .int8, .uuid, .int8])

  /// The recipients of a subject. `$1`: the subject. `$2` and `$3`: user and kind of the last one that was shown, null for
  /// the first page. `$4`: how many.
  static let pushesOfSubject = PostgresStatement(
    "pushes_of_subject",
    """
    select \(entryColumns)
    from public.push_log l
    where l.subject_id = $1
      and (l.user_id, l.push_type) > (coalesce($2, '00000000-0000-0000-0000-000000000000'), coalesce($3, ''))
    order by l.user_id, l.push_type
    limit $4
    """,
    [.uuid, .uuid, .text, .int8])

  /// What the ledger knows an id as. `$1`: the id. Answers whether it is a subject, and whether it is a user.
  static let meaningOfID = PostgresStatement(
    "meaning_of_id",
    """
    select
      exists (select from public.push_log l where l.subject_id = $1),
      exists (select from public.push_log l where l.user_id = $1)
    """,
    [.uuid])

  /// Who has a device token that begins like `$1`, in lower case; `$2`: how many at the most.
  static let deviceTokenOwners = PostgresStatement(
    "device_token_owners",
    "select o.user_id, left(lower(o.device_token), 8) from tacet.device_token_owners($1, $2::int) o where o.user_id is not null",
    [.text, .int8])

  /// What ``LedgerEntry`` reads of a row `l`.
  private static let entryColumns = """
    l.id, (extract(epoch from l.enqueued_at) * 1000000)::bigint, l.subject_id, l.push_type, l.user_id, l.decision, l.reason,
    (extract(epoch from l.held_until) * 1000000)::bigint, \(wayMicroseconds), l.devices_accepted::bigint
    """
}
