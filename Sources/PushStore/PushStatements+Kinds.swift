// What is known of an event, by its kind.
//
// Each arm of a union stands behind its kind, which the executor asks first and once: a message costs what it would
// without the others. The conditions keep the arms apart from the query around them, and functions of the host contract
// are still planned into theirs.
extension PushStatements {
  /// Joins `m`, what is known of the subject of `row`: of a message, of an event of a watched kind, or of a push that a server asked for. No row when it is
  /// gone.
  /// - Parameter row: an alias whose table has `subject_id` and `kind`.
  static func context(of row: String) -> String {
    """
    left join lateral (
      \(messageContext(of: row))
      where \(row).kind = 'message'
      union all
      select
        c.conversation_id, c.sender_id, c.sender_name, c.body, null, null, null, null, c.title, c.surface_kind, null, null,
        null, null, false, null, null
      from tacet.watched_context(\(row).kind, \(row).subject_id) c
      where \(row).kind not in ('message', 'read_sync')
      union all
      select
        p.id, null, null, p.body, null, null, null, null, p.title, null, p.data::text, p.collapse_id, null, null, false,
        null, p.quiet_policy
      from tacet.pushes p
      where \(row).kind not in ('message', 'read_sync') and p.id = \(row).subject_id and p.kind = \(row).kind
      union all
      select
        c.conversation_id, null, null, null, null, null, null, null, null, null, null, null, c.user_id, c.message_ids,
        c.has_more, c.device_token, null
      from tacet.read_syncs c
      where \(row).kind = 'read_sync' and c.id = \(row).subject_id
    ) m on true
    """
  }

  /// As ``context(of:)``, of messages alone.
  static func contextOfMessage(of row: String) -> String {
    """
    left join lateral (
      \(messageContext(of: row))
    ) m on true
    """
  }

  private static func messageContext(of row: String) -> String {
    """
    select
      c.conversation_id, c.sender_id, c.sender_name, c.body, c.created_at, c.read_by, c.prior_read_by,
      c.prior_touched_at, null::text as title, null::text as surface_kind, null::text as data,
      null::text as collapse_id, null::uuid as reader_id, null::uuid[] as read_message_ids, false as has_read_more,
      null::text as reading_device, null::text as quiet_policy
    from tacet.message_context(\(row).subject_id) c
    """
  }

  /// Those whom the event of `row` concerns, and when each was last seen looking at its conversation or surface.
  /// - Parameter row: as in ``context(of:)``, whose `m` must have been joined.
  static func presence(of row: String) -> String {
    """
    (
      select c.user_id, c.last_seen, c.left_at
      from tacet.seen_by(m.conversation_id) c
      where \(row).kind = 'message'
      union all
      select c.user_id, c.last_seen, c.left_at
      from tacet.watched_by(\(row).kind, \(row).subject_id, m.conversation_id) c
      where \(row).kind not in ('message', 'read_sync') and m.surface_kind is not null
      union all
      select p.user_id, null, null
      from tacet.pushes p
      where \(row).kind not in ('message', 'read_sync') and p.id = \(row).subject_id and p.kind = \(row).kind
      union all
      select m.reader_id, null, null
      where m.reader_id is not null
    )
    """
  }
}
