package import Logging
package import Postgres
package import Reactors

/// The result of one step of a message that was played through the host contract and undone.
package struct ContractTrial: Equatable, Sendable, Decodable {
  package enum Outcome: String, PostgresScalar, Decodable {
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
  package var sqlState: String?
  /// Why; with the names of columns and tables, without values of rows.
  package var message = ""

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
    for trial: ContractTrial in try rows.decoded() where !failed.contains(trial.step) {
      if trial.outcome == .failed { failed.insert(trial.step) }
      trials.append(trial)
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
}

/// Finds out whether notifications reach a session of the service: listens as the service does, on a separate channel,
/// and has another session notify it.
package final class ListenExamination {
  private let sender: PostgresConnection
  private let settled = Signal()
  private var failure: PostgresError?
  private var isHeard = false

  private init(sender: PostgresConnection) {
    self.sender = sender
  }

  package enum Outcome: Sendable {
    case heard
    /// The session could not be opened, or did not hear.
    case failed(PostgresError)
    case timedOut
  }

  /// Listens until the first notification has come or failed to.
  /// - Parameters:
  ///   - conninfo: how the service reaches its database.
  ///   - examination: whose session notifies.
  ///   - limit: for everything.
  package static func run(
    _ conninfo: String, notifiedBy examination: DatabaseExamination, within limit: Duration, logger: Logger,
    on reactor: isolated Reactor
  ) async -> Outcome {
    var configuration = PostgresConfiguration(conninfo: conninfo)
    configuration.applicationName = "tacet doctor"
    configuration.connectLimit = limit
    let ears = ListenExamination(sender: examination.connection)
    let listener = PostgresListener(
      configuration, channels: ["tacet_doctor"], heartbeatLimit: limit / 2, probeSender: ears, logger: logger,
      handler: ears)
    listener.start(on: reactor)
    _ = await ears.settled.wait(for: limit, on: reactor)
    await listener.close(on: reactor)
    return ears.isHeard ? .heard : ears.failure.map { .failed($0) } ?? .timedOut
  }
}

extension ListenExamination: PostgresListenerHandler {
  /// No session notifies this channel; the probe has another one.
  package func notificationArrived(_ notification: PostgresNotify, on reactor: isolated Reactor) {}

  /// The first news is the answer.
  package func listenerStateChanged(_ state: PostgresListener.State, on reactor: isolated Reactor) {
    guard !isHeard, failure == nil else { return }
    switch state {
    case .listening: isHeard = true
    case .lost(let error): failure = error
    }
    settled.signal(on: reactor)
  }
}

extension ListenExamination: PostgresProbeSender {
  /// From the session that looks at the database.
  package func sendProbe(
    _ token: String, to channel: String, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await sender.query(.sendProbe(channel: channel, token: token), on: reactor)
  }

  /// The state says the same.
  package func probeHeard(on reactor: isolated Reactor) {}
}
