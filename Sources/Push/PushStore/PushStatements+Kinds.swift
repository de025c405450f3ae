internal import APNSCore

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
    bounded(
      """
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
      """)
  }

  /// As ``context(of:)``, of messages alone.
  static func contextOfMessage(of row: String) -> String { bounded(messageContext(of: row)) }

  /// Joins `m`, what `source` says of an event, within bounds, whoever wrote the functions that it asks.
  ///
  /// The one place where the host's texts and lists are cut: before they are multiplied by recipients, and computed once
  /// for each event, because the limit keeps the planner from computing them for each recipient. A character has four
  /// bytes at the most. No preview shows as much as is left. Of those who have read, the last are kept, because readers are
  /// appended. Data that is too long is none, because half of a JSON object is no object.
  private static func bounded(_ source: String) -> String {
    """
    left join lateral (
      select
        e.conversation_id, e.sender_id, left(e.sender_name, 1024) as sender_name, left(e.body, 4096) as body,
        e.created_at, \(newestReaders("e.read_by")) as read_by, \(newestReaders("e.prior_read_by")) as prior_read_by,
        e.prior_touched_at, left(e.title, 4096) as title, left(e.surface_kind, 64) as surface_kind,
        case when octet_length(e.data) <= 8192 then e.data end as data, left(e.collapse_id, 256) as collapse_id,
        e.reader_id, e.read_message_ids[:100] as read_message_ids, e.has_read_more,
        left(e.reading_device, \(DeviceToken.digitsMax)) as reading_device, left(e.quiet_policy, 16) as quiet_policy
      from (
        \(source)
      ) e
      limit 1
    ) m on true
    """
  }

  /// Readers of one message who are asked about; a recipient is compared with each of them.
  private static let readersMax = 10_000

  private static func newestReaders(_ list: String) -> String {
    """
    case when cardinality(\(list)) > \(readersMax)
          then \(list)[cardinality(\(list)) - \(readersMax - 1):] else \(list)
        end
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
  /// - Parameters:
  ///   - row: as in ``context(of:)``, whose `m` must have been joined.
  ///   - part: which of them are asked for, a condition over `v`, perhaps with an order and a limit: an index then finds a
  ///     part of the participants of a conversation without the others.
  static func presence(of row: String, part: String = "true") -> String {
    """
    (
      (\(participants(part: "\(row).kind = 'message' and \(part)")))
      union all
      (
        select v.user_id, v.last_seen, v.left_at
        from (
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
        ) v
        where \(part)
      )
    )
    """
  }

  /// As ``presence(of:part:)``, of a message's conversation alone.
  static func participants(part: String) -> String {
    """
    select v.user_id, v.last_seen, v.left_at
      from tacet.seen_by(m.conversation_id) v
      where \(part)
    """
  }
}
