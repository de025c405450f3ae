/// How Tacet is wired to a host: the tables and columns that it takes for what it needs.
package struct WiringPlan: Equatable, Sendable {
  enum Participants: Equatable, Sendable {
    case table(ParticipantsGuess)
    /// The conversation's row names both.
    case pair(PairGuess)
    /// Every user, where the host has no such table.
    case everyone
  }

  /// Where device tokens are.
  enum Devices: Equatable, Sendable {
    case table(DevicesGuess)
    /// In a table that the wiring makes.
    case own
  }

  struct Blocks: Equatable, Sendable {
    let table: HostTable
    let blocker: HostColumn
    let blocked: HostColumn

    var conditions: [RowCondition] { RowCondition.shown(.block, in: table, besides: [blocker, blocked]) }
  }

  let messages: MessagesGuess
  let participants: Participants
  let users: UsersGuess?
  /// Where a sender may be of several classes: tables of the others, whose names are shown.
  let otherSenders: [UsersGuess]
  let devices: Devices
  let blocks: [Blocks]
  /// Columns and tables that look as if they hid something, and are not used.
  let unused: [String]
  let role: String?
  /// Tables that looked likely too, by what they were looked at for.
  let alternatives: [WiringQuestion.Subject: [String]]

  package let messageIDs: IDType
  package let conversationIDs: IDType
  package let userIDs: IDType

  /// Guesses the tables of a host.
  /// - Throws: ``WiringQuestion`` for the first thing that has no answer yet, ``WiringProblem`` for a host that cannot be wired.
  package init(_ schema: HostSchema, _ answers: WiringAnswers = WiringAnswers()) throws {
    let finder = PlanFinder(schema, answers)
    var messages = try finder.messages()
    let users = try finder.users(messages.value)
    try finder.refuseRecipient(
      in: messages.value.table, users: users?.table, conversation: messages.value.conversation)
    let participants = try finder.participants(messages.value, users?.table)
    if let kind = messages.value.kindNumber {
      messages.value.conditions += try finder.kinds(of: kind, in: messages.value.table)
    }
    (messageIDs, conversationIDs, userIDs) = try finder.types(messages.value, participants.value, users)
    let devices = try finder.devices(users, userIDs)
    self.messages = messages.value
    self.participants = participants.value
    self.users = users
    otherSenders = messages.value.senderClass == nil ? [] : finder.otherSenders(messages.value)
    self.devices = devices
    role = answers.role
    (blocks, unused) = finder.hidden(messages.value, participants.value, users, userIDs)
    alternatives = [.messages: messages.others, .participants: participants.others].filter { !$0.value.isEmpty }
  }

  /// Whether a host has the tables of the default contract, which `tacet migrate` wires alone.
  package static func isDefault(_ schema: HostSchema) -> Bool {
    let wanted: KeyValuePairs = [
      "messages": ["id", "conversation_id", "from_id", "text", "read_by", "created_at"],
      "conversation_participants": ["conversation_id", "user_id"], "profiles": ["id", "name"],
      "push_tokens": ["user_id", "device_token", "platform"],
    ]
    return wanted.allSatisfy { name, columns in
      guard let table = schema.table(named: "public.\(name)") else { return false }
      return columns.allSatisfy { table.column($0) != nil }
    }
  }

  /// Whether the messages' column names a participant instead of a user.
  var sendsThroughParticipants: Bool {
    guard case .table(let members) = participants else { return false }
    return messages.isSent(through: members)
  }

  /// The options of `tacet migrate` that say the host's ids: told all three, it takes no table by its name and other types.
  package var migrateOptions: [String] {
    [
      "--message-ids", messageIDs.rawValue, "--conversation-ids", conversationIDs.rawValue, "--user-ids",
      userIDs.rawValue,
    ]
  }
}

extension MessagesGuess {
  /// Whether the sender's column refers to the key of a table of participants.
  func isSent(through members: ParticipantsGuess) -> Bool {
    guard let key = members.table.key, IDType(key) == IDType(sender) else { return false }
    if let reference = table.reference(of: sender.name) {
      return (reference.schema, reference.table) == (members.table.schema, members.table.name)
    }
    let named = NameKey(column: sender.name).text
    return ["participation", "participant", "membership", "member"].contains(named)
      && NameKey(members.table.name).text.hasSuffix(named)
  }
}
