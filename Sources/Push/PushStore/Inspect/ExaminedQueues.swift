package import Postgres
package import Reactors

// What waits.
extension DatabaseExamination {
  package func backlog(on reactor: isolated Reactor) async throws(PostgresError) -> ExaminedBacklog {
    try await row(.examineBacklog, on: reactor)
  }

  /// Which database this is, and which one its settings were written in; nil where the settings are hidden.
  package func identity(on reactor: isolated Reactor) async throws(PostgresError) -> DatabaseIdentity? {
    try await DatabaseIdentity.look(over: connection, on: reactor)
  }

  /// What has kept dead rows from being cleaned up for longest: of sessions, and of replication slots.
  package func snapshots(on reactor: isolated Reactor) async throws(PostgresError) -> [ExaminedSnapshot] {
    try await rows(.examineSnapshots, on: reactor)
  }

  /// Tokens by app and environment, most first.
  /// - Parameter isDefaultHost: whether they are in the default host's table; otherwise the host's function is asked for
  ///   those of the last recipients.
  package func deviceTokens(
    isDefaultHost: Bool, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [DeviceTokenCount] {
    try await rows(isDefaultHost ? .examineDeviceTokens : .examineContractTokens, on: reactor)
  }

  /// What triggers swallowed during the last day, the newest first.
  package func triggerFailures(on reactor: isolated Reactor) async throws(PostgresError) -> [TriggerFailureCount] {
    try await rows(.examineTriggerFailures, on: reactor)
  }

  /// Deleted users who are not erased ten minutes later; nil without any.
  package func overdueErasures(on reactor: isolated Reactor) async throws(PostgresError) -> ExaminedErasures? {
    try await connection.query(.examineErasures, on: reactor).decoded(as: ExaminedErasures.self).first
  }

  /// What the triggers are to post, and whether pg_net posts it.
  /// - Parameter pause: between the two looks at its queue, if anything waits there.
  package func webhook(pausing pause: Duration, on reactor: isolated Reactor) async throws(PostgresError)
    -> ExaminedWebhook
  {
    let row = try await connection.query(.examineWebhook, on: reactor).one()
    var webhook: ExaminedWebhook = try row.decoded()
    if webhook.hasURL, try row.decode("reads_queue") {
      let queue: WebhookQueue = try await self.row(.examineWebhookQueue, on: reactor)
      webhook.queue = queue
      if queue.requests > 0 {
        await reactor.sleep(for: pause)
        let later: WebhookQueue = try await self.row(.examineWebhookQueue, on: reactor)
        webhook.isQueueMoving = later.first != queue.first
      }
    }
    return webhook
  }

  /// The processes that say that they run, the last one first.
  package func instances(on reactor: isolated Reactor) async throws(PostgresError) -> [RunningInstance] {
    try await rows(.runningInstances, on: reactor)
  }
}

/// What waits in the queue tables.
package struct ExaminedBacklog: Equatable, Sendable, Decodable {
  /// More than this many rows are not counted.
  package static let rowsMax = 10_000

  /// Rows of the inbox.
  package var events = 0
  /// For how long the first of them could have been decided; nil for an empty inbox, negative when all are leased.
  package var eventOverdue: Duration?
  /// For how long the first hold or retry has been due; negative before that, nil without any.
  package var deliveryOverdue: Duration?
  /// Deliveries that wait for APNs.
  package var waiting = 0
  /// How old the oldest of them is.
  package var waitingAge: Duration?
  package var parked = 0
}

/// What keeps dead rows from being cleaned up.
package struct ExaminedSnapshot: Equatable, Sendable, Decodable {
  /// The application's own name of a session, `prepared transaction`, or a replication slot's name; may be empty.
  package let name: String
  /// The server process of a session.
  package let processID: Int64?
  /// Since its transaction began; nil for a replication slot.
  package let age: Duration?
  /// Transactions that have begun since.
  package let transactions: Int64
}

/// How many device tokens an app has in an environment.
package struct DeviceTokenCount: Equatable, Sendable, Decodable {
  /// As registered; empty for tokens that belong to the default app.
  package let app: String
  /// As registered; empty for tokens of the app's own environment.
  package let environment: String
  package let tokens: Int
}

/// Errors of one kind that triggers swallowed during the last day. Their text is not told, as it may quote a row.
package struct TriggerFailureCount: Equatable, Sendable, Decodable {
  package let sqlState: String
  package let kind: String
  package let failures: Int
  /// How long ago it happened last.
  package let age: Duration
}

/// Deleted users with rows left.
package struct ExaminedErasures: Equatable, Sendable, Decodable {
  /// How many they are, ``ExaminedBacklog/rowsMax`` at the most.
  package let users: Int
  /// How long ago the first of them was deleted.
  package let age: Duration
}

/// What triggers are to do besides writing the inbox row, and whether they can.
package struct ExaminedWebhook: Equatable, Sendable, Decodable {
  package var isNotifyEnabled = true
  /// Whether they are to post a webhook.
  package var hasURL = false
  package var hasSecret = false
  /// Whether pg_net's function is there.
  package var hasFunction = false
  /// A trigger of the host on inserted messages that posts a webhook, as far as its function shows; nil without one.
  package var hostTrigger: String?
  /// What waits; nil when the role may not look.
  package var queue: WebhookQueue?
  /// Whether another request was the first one a moment later.
  package var isQueueMoving = false

  private enum CodingKeys: CodingKey {
    case isNotifyEnabled, hasURL, hasSecret, hasFunction, hostTrigger
  }
}

/// pg_net's queue at one look.
package struct WebhookQueue: Equatable, Sendable, Decodable {
  /// Requests that wait, 1000 at the most.
  package let requests: Int
  /// The number of the first; nil for an empty queue.
  package let first: Int64?
}
