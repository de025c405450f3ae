import Foundation

/// What somebody is doing while a message comes for them, and so what may and what must become of its push.
enum Situation {
  /// Never looked: every device must get it.
  case away
  /// Has no device.
  case tokenless
  /// Has read it by the time it is committed.
  case hasRead
  /// Reads it soon after; a push claimed before that is fair.
  case reading
  /// Looks all the time, and says so.
  case looking
  /// Looked when it was written, and never again: must get it when the window has ended.
  case glimpsing
  /// The same, and says soon after that they left: must get it then.
  case leaving

  /// Whether the presence of the moment is written with the conversation.
  var wasSeen: Bool { [.looking, .glimpsing, .leaving].contains(self) }
}

struct HostRecipient {
  let user = UUID().uuidString.lowercased()
  let situation: Situation
  let devices: [String]

  init(_ situation: Situation, devices count: Int = 1) {
    self.situation = situation
    devices = (0..<(situation == .tokenless ? 0 : count)).map { _ in Conversation.newToken() }
  }
}

/// A message as the host wrote it. Times are microseconds since 1970; database and test share the machine's clock.
struct HostMessage {
  /// What the host does about the message after its commit.
  enum FollowUp { case read, leave, delete }

  let id = UUID().uuidString.lowercased()
  let room: Room
  let followUp: FollowUp?

  /// `created_at`. Known once the commit was acknowledged or the row was found at the end: then it is committed.
  var createdAt: Int64?
  /// When the commit was acknowledged; nil when the connection was lost over it.
  var acknowledgedAt: Int64?
  /// From when the follow-up may have been in effect; nil when it was never tried.
  var followUpBegan: Int64?
  /// From when it certainly was.
  var followUpDone: Int64?

  init(in room: Room, followUp: FollowUp? = nil) {
    self.room = room
    self.followUp = followUp
  }

  var isCommitted: Bool { createdAt != nil }

  /// Whether it may be gone from the host's table.
  var mayBeDeleted: Bool { followUp == .delete && followUpBegan != nil }

  var insertion: String {
    let readers = room.recipients.filter { $0.situation == .hasRead }.map { "'\($0.user)'" }.joined(separator: ",")
    return """
      insert into messages (id, conversation_id, from_id, text, read_by)
      values ('\(id)', '\(room.id)', '\(room.sender)', 'hello', array[\(readers)]::uuid[])
      returning (extract(epoch from created_at) * 1000000)::bigint;
      """
  }

  /// May be run again without another effect: a host repeats what it got no answer to.
  var followUpStatement: String {
    let reader = room.recipients.first { $0.situation == .reading }?.user ?? id
    switch followUp {
    case .read:
      return """
        update messages set read_by = read_by || '\(reader)'::uuid, updated_at = now()
        where id = '\(id)' and not '\(reader)' = any (read_by);
        """
    case .leave:
      return
        "update conversation_participants set tacet_left_at = clock_timestamp() where conversation_id = '\(room.id)';"
    case .delete: return "delete from messages where id = '\(id)';"
    case nil: return ""
    }
  }
}

/// A conversation of one sender with others.
struct Room {
  let id = UUID().uuidString.lowercased()
  let sender = UUID().uuidString.lowercased()
  let recipients: [HostRecipient]

  init(_ recipients: [HostRecipient]) {
    self.recipients = recipients
  }

  /// Writes it with everybody in it.
  var creation: String {
    let people = recipients.map { ($0.user, $0.situation.wasSeen ? "now()" : "null") } + [(sender, "null")]
    let tokens = recipients.flatMap { recipient in recipient.devices.map { "('\(recipient.user)', '\($0)')" } }
    var sql = """
      insert into conversations (id) values ('\(id)');
      insert into profiles (id, name) values \(people.map { "('\($0.0)', 'Ann')" }.joined(separator: ", "));
      insert into conversation_participants (conversation_id, user_id, last_seen)
      values \(people.map { "('\(id)', '\($0.0)', \($0.1))" }.joined(separator: ", "));
      """
    if !tokens.isEmpty {
      sql += "insert into push_tokens (user_id, device_token) values \(tokens.joined(separator: ", "));"
    }
    return sql
  }
}
