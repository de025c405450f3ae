import PushRules
import TestIDs

// What a host application would write.
extension PresenceTimeline {
  /// The rows of the conversation before anything happens.
  var preparation: String {
    var sql = "insert into public.conversations (id) values ('\(conversation)');"
    for (number, user) in users.enumerated() {
      sql += "insert into public.profiles (id, name) values ('\(user)', 'User \(number)');"
      if plan.members[number].isInFromTheStart { sql += joining(user) }
      for token in tokens(of: number) {
        sql += "insert into public.push_tokens (user_id, device_token) values ('\(user)', '\(token)');"
      }
    }
    return sql
  }

  /// One statement, with its semicolon.
  func sql(for action: HostAction) -> String {
    switch action {
    case .post(let message, let author):
      """
      insert into public.messages (id, conversation_id, from_id, text)
      values ('\(id(of: message))', '\(conversation)', '\(users[author])', 'Message \(message)');
      """
    case .look(let user): updating("last_seen", of: user)
    case .leaveScreen(let user): updating("tacet_left_at", of: user)
    case .read(let user, let messages, let touches): reading(messages, by: users[user], touches: touches)
    case .edit(let message):
      "update public.messages set text = text || '!', updated_at = now() where id = '\(id(of: message))';"
    case .delete(let message): "delete from public.messages where id = '\(id(of: message))';"
    case .join(let user): joining(users[user])
    case .leaveGroup(let user): "delete from public.conversation_participants where \(row(of: user));"
    }
  }

  private func joining(_ user: String) -> String {
    """
    insert into public.conversation_participants (conversation_id, user_id) values ('\(conversation)', '\(user)')
    on conflict do nothing;
    """
  }

  private func updating(_ column: String, of user: Int) -> String {
    "update public.conversation_participants set \(column) = now() where \(row(of: user));"
  }

  private func reading(_ messages: [Int], by user: String, touches: Bool) -> String {
    let ids = messages.map { "'\(id(of: $0))'" }.joined(separator: ", ")
    return """
      update public.messages
      set read_by = array_append(read_by, '\(user)')\(touches ? ", updated_at = now()" : "")
      where id in (\(ids)) and not read_by @> array['\(user)'::uuid];
      """
  }

  private func row(of user: Int) -> String { "conversation_id = '\(conversation)' and user_id = '\(users[user])'" }

  /// A message that a shortened plan posts no more has an id that no row has.
  private func id(of message: Int) -> String { messages[message] ?? HostID.new().text }
}
