internal import Postgres

// What is read of messages.
extension WiringFile {
  var messageFunctions: [String] { [messageContext, unreadCount].compactMap { $0 } + nameFunctions }

  private var messageContext: String {
    let messages = plan.messages
    return function(
      "message_context(message_id \(plan.messageIDs))",
      returns: """
        table (
          conversation_id \(plan.conversationIDs), sender_id \(plan.userIDs), sender_name text, body text, created_at timestamptz,
          read_by \(plan.userIDs)[], prior_read_by \(plan.userIDs)[], prior_touched_at timestamptz
        )
        """,
      comment: """
        One message, for the rules and the text of its push. No row for what is not pushed.
        """,
      """
      select
        \(messages.conversation.id("m")),
        \(sender),
        \(senderName),
        left(\(messages.body.plainText("m")), 4096),
        \(messages.created?.birth("m") ?? "null::timestamptz"),
        \(readBy),
        null::\(plan.userIDs)[],
        null::timestamptz
      from \(messages.table.sql) m\(joins)
      where \(messages.id.equals("message_context.message_id", "m"))\(and(conditions))
      """)
  }

  private var conditions: [String] {
    (RowCondition.known(plan.messages.conversation) + plan.messages.conditions).map { $0.sql("m") }
  }

  /// The sender as a user's id; null for one that is no user.
  private var sender: String {
    if case .table(let members) = plan.participants, plan.sendsThroughParticipants { return members.user.id("sp") }
    guard let isUser else { return plan.messages.sender.id("m") }
    return "case when \(isUser) then \(plan.messages.sender.id("m")) end"
  }

  /// Whether the sender is a user, where it may be something else.
  private var isUser: String? {
    plan.messages.senderClass.map {
      RowCondition(column: $0, test: .isClass(plan.users?.table.className ?? "User")).sql("m")
    }
  }

  private var joins: String {
    var lines: [String] = []
    var user = "m.\(plan.messages.sender.name.quotedIdentifier)"
    if case .table(let members) = plan.participants, plan.sendsThroughParticipants {
      let key = (members.table.key ?? members.user).name.quotedIdentifier
      lines.append("left join \(members.table.sql) sp on sp.\(key) = \(user)")
      user = "sp.\(members.user.name.quotedIdentifier)"
    }
    if let users = plan.users, !users.names.isEmpty {
      let condition = isUser.map { " and \($0)" } ?? ""
      lines.append("left join \(users.table.sql) u on u.\(users.id.name.quotedIdentifier) = \(user)\(condition)")
    }
    for (place, other) in plan.otherSenders.enumerated() {
      guard let column = plan.messages.senderClass else { continue }
      let isOther = RowCondition(column: column, test: .isClass(other.table.className)).sql("m")
      let id = other.id.name.quotedIdentifier
      lines.append("left join \(other.table.sql) o\(place) on o\(place).\(id) = \(user) and \(isOther)")
    }
    return lines.map { "\n\($0)" }.joined()
  }

  private var senderName: String {
    let users = plan.users.map { $0.names.isEmpty ? [] : [$0.name("u")] } ?? []
    let names = users + plan.otherSenders.enumerated().map { $1.name("o\($0)") }
    return names.isEmpty ? "null::text" : names.count == 1 ? names[0] : "coalesce(\(names.joined(separator: ", ")))"
  }

  /// Who has read the message, where participants say how far they have read.
  private var readBy: String {
    guard case .table(let members) = plan.participants, let isRead = readCondition(members, ">=") else {
      return "null::\(plan.userIDs)[]"
    }
    return """
      array(
          select \(members.user.id("p"))
          from \(members.table.sql) p
          where p.\(members.conversation.name.quotedIdentifier) = m.\(plan.messages.conversation.name.quotedIdentifier) and \(isRead)
        )
      """
  }

  /// How far a participant has read, against a message.
  private func readCondition(_ members: ParticipantsGuess, _ sign: String) -> String? {
    guard let read = members.read, let message = members.isReadByID ? plan.messages.id : plan.messages.created else {
      return nil
    }
    return "p.\(read.name.quotedIdentifier) \(sign) m.\(message.name.quotedIdentifier)"
  }

  private var unreadCount: String? {
    guard case .table(let members) = plan.participants, let read = members.read,
      let message = members.isReadByID ? plan.messages.id : plan.messages.created
    else { return nil }
    let beginning = members.isReadByID ? "0" : message.beginning
    let (user, conversation) = (members.user.name.quotedIdentifier, plan.messages.conversation.name.quotedIdentifier)
    let sent = plan.sendsThroughParticipants ? (members.table.key ?? members.user).name.quotedIdentifier : user
    let others = "m.\(plan.messages.sender.name.quotedIdentifier) is distinct from p.\(sent)"
    return function(
      "unread_count(user_id \(plan.userIDs))", returns: "bigint", "plpgsql stable",
      comment: "The badge: at most a hundred messages of each conversation, after what the user has read.",
      """
      begin
        return (
          select count(*)
          from \(members.table.sql) p
          cross join lateral (
            select
            from \(plan.messages.table.sql) m
            where m.\(conversation) = p.\(members.conversation.name.quotedIdentifier)
              and m.\(message.name.quotedIdentifier) > coalesce(p.\(read.name.quotedIdentifier), \(beginning))
              and \((isUser.map { "(\(others) or not \($0))" } ?? others))\
      \(and(plan.messages.conditions.map { $0.sql("m") }, indent: 8))
            limit 100
          ) unread
          where \(members.user.equals("unread_count.user_id", "p"))\
      \(and(members.conditions.map { $0.sql("p") }, indent: 6)));
      end
      """)
  }

  private var nameFunctions: [String] {
    guard let users = plan.users else { return [] }
    var functions: [String] = []
    if !users.names.isEmpty {
      functions.append(
        function(
          "profile_name(user_id \(plan.userIDs))", returns: "text", comment: "A user's name, as others see it.",
          "select \(users.name("u")) from \(users.table.sql) u where \(users.id.equals("profile_name.user_id", "u"))"))
    }
    if let zone = users.zone {
      functions.append(
        function(
          "user_time_zone(user_id \(plan.userIDs))", returns: "text", "plpgsql stable",
          comment: "For quiet hours that name no zone.",
          """
          begin
            return tacet.known_zone((
              select \(zone.plainText("u")) from \(users.table.sql) u where \(users.id.equals("user_time_zone.user_id", "u"))));
          end
          """))
    }
    return functions
  }
}

extension UsersGuess {
  func name(_ row: String) -> String {
    let texts = names.map { $0.plainText(row) }
    return texts.count == 2 ? "coalesce(nullif(\(texts[0]), ''), \(texts[1]))" : texts[0]
  }
}
