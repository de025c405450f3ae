public import Postgres
public import PushKinds
public import Reactors

/// A function of the host contract that claims call.
public enum MeasuredFunction: String, CaseIterable, Sendable {
  case messageContext = "message_context"
  case seenBy = "seen_by"
  case pushTargets = "push_targets"
  case recipientPreferences = "recipient_preferences"
  case unreadCount = "unread_count"
  case isMentioned = "is_mentioned"

  /// Indexes of the default host without which this function of the default contract reads too much.
  public var hostIndexes: [String] {
    switch self {
    case .messageContext: ["messages_conversation_idx"]
    case .unreadCount: ["messages_conversation_idx", "conversation_participants_user_idx"]
    case .pushTargets: ["push_tokens_user_idx"]
    case .seenBy, .recipientPreferences, .isMentioned: []
    }
  }
}

/// What one call of a function took.
public struct MeasuredCall: Sendable {
  /// The user who was asked about.
  public let user: HostID
  /// By the server's clock.
  public let microseconds: Int64
  /// Targets; the badge; 1 for a user who wants mentions only, or is mentioned.
  public let found: Int64

  /// Notes a call.
  public init(user: HostID, microseconds: Int64, found: Int64 = 0) {
    self.user = user
    self.microseconds = microseconds
    self.found = found
  }
}

// A call of each function, timed by the server.
extension MeasuringSession {
  /// - Returns: the microseconds; the conversation and the sender, both nil for a message that is gone.
  public func messageContext(
    of message: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (microseconds: Int64, conversation: HostID?, sender: HostID?) {
    let row = try await connection.query(.measureMessageContext(messageID: message), on: reactor).one()
    return (try row.decode("took_us"), try row.decode("conversation_id"), try row.decode("sender_id"))
  }

  /// - Returns: the microseconds; how many take part, and the first ``usersMax`` of them.
  public func seenBy(
    _ conversation: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (microseconds: Int64, members: Int, users: [HostID]) {
    let row = try await connection.query(
      .measureSeenBy(conversationID: conversation, usersMax: Self.usersMax), on: reactor
    ).one()
    return (try row.decode("took_us"), try row.decode("found"), try row.decode("user_ids"))
  }

  /// Calls a function that is asked about users.
  /// - Returns: a call for each user, or for as many as half a second allowed.
  public func calls(
    of function: MeasuredFunction, for users: [HostID], message: HostID, conversation: HostID,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> [MeasuredCall] {
    let call: StatementCall
    switch function {
    case .messageContext, .seenBy: preconditionFailure("\(function) is not asked about users")
    case .pushTargets: call = .measurePushTargets(userIDs: users)
    case .recipientPreferences: call = .measureRecipientPreferences(userIDs: users, conversationID: conversation)
    case .unreadCount: call = .measureUnreadCount(userIDs: users)
    case .isMentioned: call = .measureIsMentioned(userIDs: users, messageID: message)
    }
    var calls: [MeasuredCall] = []
    for row in try await connection.query(call, on: reactor) {
      let found = try row.decode("found", as: Int64?.self) ?? 0
      calls.append(
        MeasuredCall(user: try row.decode("user_id"), microseconds: try row.decode("took_us"), found: found))
    }
    return calls
  }
}

extension MeasuredFunction {
  /// The statement by which `psql` shows what a call does.
  public func explanation(message: HostID, conversation: HostID?, user: HostID?) -> String {
    let (message, conversation) = (Self.literal(message), conversation.map(Self.literal) ?? "null")
    let user = user.map(Self.literal) ?? "null"
    let arguments =
      switch self {
      case .messageContext: message
      case .seenBy: conversation
      case .pushTargets, .unreadCount: user
      case .recipientPreferences: "\(user), 'message', \(conversation), now()"
      case .isMentioned: "\(message), \(user)"
      }
    return "explain (analyze, buffers) select * from tacet.\(rawValue)(\(arguments))"
  }

  private static func literal(_ id: HostID) -> String { "'\(id.text.replacing("'", with: "''"))'" }
}
