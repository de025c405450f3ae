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

/// What an operator has said about a host; what is not there is guessed.
package struct WiringAnswers: Equatable, Sendable {
  private var answers: [WiringQuestion.Subject: String] = [:]
  /// The service's role, where it is another than the tables' owner.
  package var role: String?

  package init() {}

  package subscript(subject: WiringQuestion.Subject) -> String? {
    get { answers[subject] }
    set { answers[subject] = newValue }
  }
}

/// What cannot be guessed, and is asked.
package struct WiringQuestion: Error, Equatable, Sendable {
  /// What it is about, and how it may be answered. The option of the command has the same name.
  package enum Subject: String, Equatable, Sendable, CaseIterable {
    /// A table.
    case messages
    /// A table, or `everyone`.
    case participants
    /// A table, or `none`.
    case users
    /// A column with its table, or `own`.
    case devices
    /// Numbers of the kinds of messages that are pushed, or `all`.
    case messageKinds = "message-kinds"
  }

  package let subject: Subject
  package let text: String
  /// Answers that fit, the likeliest first. For some questions others are possible.
  package let choices: [String]

  package init(subject: Subject, text: String, choices: [String]) {
    self.subject = subject
    self.text = text
    self.choices = choices
  }

  /// Whether an answer need not be one of the choices, nor name a table.
  package var isOpen: Bool { subject == .messageKinds || choices.isEmpty }
}

/// Why a host cannot be wired, or an answer cannot be used.
package struct WiringProblem: Error, Equatable, Sendable, CustomStringConvertible {
  /// A sentence or two, with what to do.
  package let description: String

  init(_ description: String) { self.description = description }
}

/// What was taken for what, in lines for people: on the terminal and at the top of the file. Names are not quoted.
package struct WiringSummary {
  private let plan: WiringPlan

  package init(_ plan: WiringPlan) { self.plan = plan }

  /// One line for each need, and one for what else was possible.
  package var lines: [String] {
    var lines = ["messages      \(messages)", "participants  \(participants)"]
    lines.append("users         \(users)")
    lines.append("devices       \(devices)")
    lines.append("presence      \(presence)")
    lines.append(
      "ids           messages \(plan.messageIDs), conversations \(plan.conversationIDs), users \(plan.userIDs)")
    if !plan.blocks.isEmpty {
      let blocks = plan.blocks.map {
        "\($0.table.fullName) (\($0.blocker.name), \($0.blocked.name))\(only($0.conditions))"
      }
      lines.append("blocks        \(blocks.joined(separator: ", "))")
    }
    for subject in WiringQuestion.Subject.allCases {
      guard let others = plan.alternatives[subject] else { continue }
      lines.append("also possible for \(subject.rawValue): \(others.joined(separator: ", ")) (--\(subject.rawValue))")
    }
    lines += plan.unused.map { "\($0) is not used: if it hides something, add it to the functions" }
    if usesLocalTimes { lines.append("times without a zone are taken for UTC") }
    return lines
  }

  private var messages: String {
    let messages = plan.messages
    let columns =
      [messages.id, messages.conversation, messages.sender, messages.body] + [messages.created].compactMap { $0 }
    return "\(messages.table.fullName) (\(columns.map(\.name).joined(separator: ", ")))\(only(messages.conditions))"
  }

  private var participants: String {
    if case .pair(let pair) = plan.participants {
      return
        "\(pair.table.fullName) (\(([pair.id] + pair.users).map(\.name).joined(separator: ", "))), which names both"
    }
    guard case .table(let members) = plan.participants else { return plan.users?.table.everyone ?? "" }
    let columns = [members.conversation, members.user] + [members.read].compactMap { $0 }
    return "\(members.table.fullName) (\(columns.map(\.name).joined(separator: ", ")))\(only(members.conditions))"
  }

  private var users: String {
    guard let users = plan.users else { return "no table, so pushes have no name of a sender" }
    let columns = [users.id] + users.names + [users.zone].compactMap { $0 }
    return "\(users.table.fullName) (\(columns.map(\.name).joined(separator: ", ")))\(only(users.conditions))"
  }

  private var devices: String {
    guard case .table(let devices) = plan.devices else {
      return "tacet_host.devices, which this file creates: apps register with Tacet"
    }
    let columns =
      [devices.user, devices.token] + [devices.platform, devices.app, devices.environment].compactMap { $0 }
    return "\(devices.table.fullName) (\(columns.map(\.name).joined(separator: ", ")))\(only(devices.conditions))"
  }

  private var presence: String {
    var text = "tacet_host.presence, which this file creates"
    if case .table(let members) = plan.participants, let looked = members.looked {
      text += "; also \(members.table.fullName).\(looked.name)"
    }
    return text
  }

  private func only(_ conditions: [RowCondition]) -> String {
    conditions.isEmpty ? "" : " where \(conditions.map(\.words).joined(separator: ", "))"
  }

  private var usesLocalTimes: Bool {
    var columns = [plan.messages.created]
    if case .table(let members) = plan.participants { columns.append(members.looked) }
    return columns.contains { $0?.type == "timestamp" }
  }
}

extension HostTable {
  /// What `everyone` means, of a table of users.
  var everyone: String { "every user of \(fullName) gets every message (now about \(Int(rows)) users)" }
}
