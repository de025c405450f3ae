internal import Postgres

extension PushStatements {
  /// Marks a batch of messages as read, and queues what tells the user's other devices.
  ///
  /// `$1`: the conversation. `$2`: the user. `$3`: the last message, null for all. `$4`: the device that has read, null when
  /// unknown. `$5`: whether others are told. Answers one row: whether the user takes part, whether the message is known,
  /// messages marked, unread messages, microseconds until others are told.
  static let readConversation = PostgresStatement(
    "read_conversation",
    """
    with \(durable)
    select r.takes_part, r.knows_message, r.read_count, r.badge, r.sync_wait
    from durable
    cross join lateral tacet.read_conversation($1, $2, $3, $4, $5) r
    """,
    [.uuid, .uuid, .uuid, .text, .bool])

  /// Notes that a push was opened. `$1`: its row of the ledger. `$2`: the user. Answers whether there is such a row; it is
  /// written once.
  static let noteOpened = PostgresStatement(
    "note_opened",
    """
    with opened as (
      update public.push_log l
      set opened = true, opened_at = clock_timestamp()
      where l.id = $1 and l.user_id = $2 and not l.opened
    )
    select exists (select from public.push_log l where l.id = $1 and l.user_id = $2)
    """,
    [.uuid, .uuid])

  /// Moves the marks from which on unread messages are counted. `$1`: the users.
  static let moveUnreadMarks = PostgresStatement(
    "move_unread_marks", "select tacet.move_unread_marks($1)", [.array(of: .uuid)])
}
