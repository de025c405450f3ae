package import Logging
package import Postgres
package import Reactors

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
