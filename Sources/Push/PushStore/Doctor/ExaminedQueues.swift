/// What waits in the queue tables.
public struct ExaminedBacklog: Equatable, Sendable {
  /// More than this many rows are not counted.
  public static let rowsMax = 10_000

  /// Rows of the inbox.
  public var events = 0
  /// For how long the first of them could have been claimed; nil when there is none, negative when all are leased.
  public var eventOverdue: Duration?
  /// For how long the first hold or retry has been due; negative when none is, nil when there is none.
  public var deliveryOverdue: Duration?
  /// Deliveries that wait for APNs.
  public var waiting = 0
  /// How old the oldest of them is.
  public var waitingAge: Duration?
  /// Parked rows.
  public var parked = 0

  /// Nothing waits.
  public init() {}
}

/// What keeps dead rows from being cleaned up.
public struct ExaminedSnapshot: Equatable, Sendable {
  /// The application's own name of a session, `prepared transaction`, or a replication slot's name; may be empty.
  public let name: String
  /// The server process of a session.
  public let processID: Int64?
  /// Since its transaction began; nil for a replication slot.
  public let age: Duration?
  /// Transactions that have begun since.
  public let transactions: Int64

  /// Notes a snapshot.
  public init(name: String, processID: Int64?, age: Duration?, transactions: Int64) {
    self.name = name
    self.processID = processID
    self.age = age
    self.transactions = transactions
  }
}

/// How many device tokens an app has in an environment.
public struct DeviceTokenCount: Equatable, Sendable {
  /// As registered; empty for tokens that belong to the default app.
  public let app: String
  /// As registered; empty for tokens of the app's own environment.
  public let environment: String
  /// Tokens.
  public let tokens: Int

  /// Notes a count.
  public init(app: String, environment: String, tokens: Int) {
    self.app = app
    self.environment = environment
    self.tokens = tokens
  }
}

/// Errors of one kind that triggers swallowed during the last day. Their text is not told, as it may quote a row.
public struct TriggerFailureCount: Equatable, Sendable {
  /// The condition.
  public let sqlState: String
  /// The kind of event that was concerned.
  public let kind: String
  /// How often.
  public let failures: Int
  /// How long ago it happened last.
  public let age: Duration

  /// Notes a count.
  public init(sqlState: String, kind: String, failures: Int, age: Duration) {
    self.sqlState = sqlState
    self.kind = kind
    self.failures = failures
    self.age = age
  }
}

/// Deleted users of whom something is still kept.
public struct ExaminedErasures: Equatable, Sendable {
  /// How many they are, ``ExaminedBacklog/rowsMax`` at the most.
  public let users: Int
  /// How long ago the first of them was deleted.
  public let age: Duration

  /// Notes them.
  public init(users: Int, age: Duration) {
    self.users = users
    self.age = age
  }
}

/// What triggers are to do besides writing the inbox row, and whether they can.
public struct ExaminedWebhook: Equatable, Sendable {
  /// Whether they may notify.
  public var isNotifyEnabled = true
  /// Whether they are to post a webhook.
  public var hasURL = false
  /// Whether they have something to sign it with.
  public var hasSecret = false
  /// Whether pg_net's function is there.
  public var hasFunction = false
  /// Requests that waited at two looks, a moment apart; nil when the role may not look.
  public var queue: (first: WebhookQueue, second: WebhookQueue)?

  /// Nothing is posted.
  public init() {}

  /// Whether both say the same.
  public static func == (one: ExaminedWebhook, other: ExaminedWebhook) -> Bool {
    one.isNotifyEnabled == other.isNotifyEnabled && one.hasURL == other.hasURL && one.hasSecret == other.hasSecret
      && one.hasFunction == other.hasFunction && one.queue?.first == other.queue?.first
      && one.queue?.second == other.queue?.second
  }
}

/// pg_net's queue at one look.
public struct WebhookQueue: Equatable, Sendable {
  /// Requests that wait, 1000 at the most.
  public let requests: Int
  /// The number of the first; nil when none waits.
  public let first: Int64?

  /// Notes a look.
  public init(requests: Int, first: Int64?) {
    self.requests = requests
    self.first = first
  }
}

/// A process that has said that it runs.
public struct ExaminedInstance: Equatable, Sendable {
  /// As its log lines name it.
  public let id: String
  /// Its machine.
  public let host: String
  /// Its program's version.
  public let version: String
  /// How long ago it said so last.
  public let age: Duration

  /// Notes a process.
  public init(id: String, host: String, version: String, age: Duration) {
    self.id = id
    self.host = host
    self.version = version
    self.age = age
  }
}
