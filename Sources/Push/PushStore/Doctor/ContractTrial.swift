package import Postgres
package import Reactors

/// The result of one step of a message that was played through the host contract and undone.
package struct ContractTrial: Equatable, Sendable {
  package enum Outcome: String, Sendable {
    /// As it will for real messages.
    case done
    /// It works, and finds nothing.
    case empty
    case failed
    case skipped
  }

  /// `trigger` for the trigger on messages, `reach` for whether anybody would get a push, otherwise the function of schema `tacet`.
  package let step: String
  package let outcome: Outcome
  /// The SQLSTATE of what failed, where an error did.
  package let sqlState: String?
  /// Why; with the names of columns and tables, without values of rows.
  package let message: String

  package init(_ step: String, _ outcome: Outcome, sqlState: String? = nil, message: String = "") {
    self.step = step
    self.outcome = outcome
    self.sqlState = sqlState
    self.message = message
  }

  /// Steps without which no message is pushed; the others concern what apps report.
  package static let neededForPushes: Set<String> = [
    "message_context", "seen_by", "has_blocked", "unread_count", "device_tokens", "takes_pushes", "push_targets",
    "recipient_preferences",
  ]

  /// Whether the database took no writes, which says nothing of the contract.
  package static func areRefused(_ trials: [ContractTrial]) -> Bool {
    trials.contains { $0.sqlState == SQLState.readOnlyTransaction.description }
  }

  /// A function that failed once is told once, by its first failure.
  static func trials(from rows: PostgresRows) throws(PostgresError) -> [ContractTrial] {
    var failed: Set<String> = []
    var trials: [ContractTrial] = []
    for row in rows {
      let step: String = try row.decode("step")
      guard let outcome = Outcome(rawValue: try row.decode("outcome")), !failed.contains(step) else { continue }
      if outcome == .failed { failed.insert(step) }
      let message = try row.decode("message", as: String?.self) ?? ""
      trials.append(ContractTrial(step, outcome, sqlState: try row.decode("state"), message: message))
    }
    return trials
  }
}

extension PushDatabase {
  /// Plays a message through the host contract and undoes it, without inserting one: other triggers of the host would run.
  package func rehearseMessage(on reactor: isolated Reactor) async throws(PostgresError) -> [ContractTrial] {
    try ContractTrial.trials(from: try await pool.query(.rehearseMessage(isInserted: false), on: reactor))
  }
}

/// The functions of the host contract that the claim calls, which a host may have replaced by its own.
package enum HostFunction: String, CaseIterable, Sendable {
  case messageContext = "message_context"
  /// Who takes part in a conversation.
  case seenBy = "seen_by"
  /// The badge.
  case unreadCount = "unread_count"
  case deviceTokens = "device_tokens"
  case profileName = "profile_name"
  case recipientPreferences = "recipient_preferences"
  case isMentioned = "is_mentioned"

  var call: StatementCall {
    switch self {
    case .messageContext: .callMessageContext
    case .seenBy: .callSeenBy
    case .unreadCount: .callUnreadCount
    case .deviceTokens: .callDeviceTokens
    case .profileName: .callProfileName
    case .recipientPreferences: .callRecipientPreferences
    case .isMentioned: .callIsMentioned
    }
  }
}
