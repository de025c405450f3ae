package import Logging
package import Postgres
package import PushRules
package import Reactors

/// A process of the service, as histories and operators know it.
package struct ServiceInstance: Equatable, Sendable {
  /// A process without a sign for so long is taken to have ended: sixty signs are missing.
  package static let silentFrom = Duration.seconds(60)

  /// Eight hexadecimal digits, drawn when the process starts.
  package let id: String

  package let host: String

  package let processID: Int32

  package let version: String

  package init(id: String, host: String, processID: Int32, version: String) {
    self.id = id
    self.host = host
    self.processID = processID
    self.version = version
  }
}

extension PushDatabase {
  /// Says that a process is about to end.
  package func end(_ instance: ServiceInstance, on reactor: isolated Reactor) async throws(PostgresError) {
    try await pool.query(.endInstance(instanceID: instance.id), on: reactor)
  }
}

extension ServiceInstance {
  /// Other processes of the service on this one's machine, as its database knows them, each with whether it has given a sign of
  /// life in the last minute. A process that leaves the database alone for hours gives none.
  package func neighbours(
    over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [(processID: Int32, isRecent: Bool)] {
    try await connection.query(.neighbours(host: host), on: reactor).map { row throws(PostgresError) in
      (processID: try row.decode("pid"), isRecent: try row.decode("is_recent"))
    }
  }
}

/// The shards of conversations that a process holds.
package struct OwnedShards: Equatable, Sendable {
  /// As `tacet.shards` numbers them, from 0.
  package static let count: Int32 = 16

  /// What a pipeline owns that nobody shares the database with.
  package static let all = OwnedShards((0..<count).map { HeldShard(number: $0) })

  package static let none = OwnedShards([])

  /// By number.
  package let held: [Int32: HeldShard]

  /// Those that are claimed from: all but what another process is to have.
  package let numbers: [Int32]

  /// When the newest of these was taken, by the database's clock; microseconds since 1970. What was enqueued before may be what
  /// another process left behind.
  package let since: Int64

  package init(_ shards: [HeldShard]) {
    held = Dictionary(uniqueKeysWithValues: shards.map { ($0.number, $0) })
    let kept = shards.filter { !$0.isSurplus }
    numbers = kept.map(\.number)
    since = kept.map(\.takenAt).max() ?? 0
  }
}

/// A shard that a process holds.
package struct HeldShard: Equatable, Sendable, Decodable {
  package let number: Int32
  /// When it was taken, by the database's clock; microseconds since 1970.
  package var takenAt: Int64 = 0
  /// How often its owner has changed. A process that has lost a shard and taken it again has another number.
  package var epoch: Int64 = 0
  /// Whether another process has too few.
  package var isSurplus = false
  /// Whether a process is awake and polls, so that nobody is notified.
  package var isQuiet = false
}

extension PushDatabase {
  /// Says that a process lives, renews its lease, and gives it its share of the shards.
  /// - Parameter lease: from the call on, how long the process stays their owner without another one.
  package func holdShards(
    of instance: ServiceInstance, for lease: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [HeldShard] {
    let call = StatementCall.holdShards(
      instanceID: instance.id, host: instance.host, processID: instance.processID, version: instance.version,
      leaseMicroseconds: lease.wholeMicroseconds)
    return try await pool.query(call, on: reactor).decoded()
  }

  /// Gives up shards of which nothing is under way; with the last one the lease ends.
  package func giveUp(
    _ shards: [Int32], of instance: String, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await pool.query(.giveUpShards(instanceID: instance, shards: shards), on: reactor)
  }
}

/// A message that was handed over for a user, and the burst that it is of; as the ledger knows it.
package struct FoldedMessage: Sendable, Decodable {
  package let userID: HostID
  package let conversationID: HostID
  let subjectID: HostID
  let enqueuedAt: Int64
  let firstID: HostID
  package let begunAt: Int64
  package let sounds: Bool
  package let isShown: Bool
  /// Messages of the burst besides this one.
  package let more: Int

  package var message: BurstMessage { BurstMessage(enqueuedAt: enqueuedAt, id: subjectID) }

  /// The one that began the burst.
  package var first: BurstMessage { BurstMessage(enqueuedAt: begunAt, id: firstID) }
}

extension PushDatabase {
  /// What was lately handed over for these users, in the order of its commits.
  /// - Parameter since: by the database's clock; microseconds since 1970.
  package func foldedMessages(
    to userIDs: [HostID], since: Int64, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [FoldedMessage] {
    let call = StatementCall.foldedMessages(userIDs: userIDs, sinceMicroseconds: since)
    return try await pool.query(call, on: reactor).decoded()
  }
}

/// Which database this is, and which one its settings were written in: a restored dump brings along what waits elsewhere.
package struct DatabaseIdentity: Equatable, Sendable, Decodable {
  /// What `tacet migrate` or `tacet adopt` has noted; nil when neither has.
  package let noted: String?
  /// The cluster's system identifier and the database's name.
  package let actual: String

  package var isForeign: Bool { noted.map { $0 != actual } ?? false }

  /// Asks a database.
  /// - Returns: nil where row-level security hides the settings.
  /// - Throws: ``PostgresError``, also where the migrations that say so are missing.
  package static func look(
    over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> DatabaseIdentity? {
    try await connection.query(.databaseIdentity, on: reactor).decoded(as: DatabaseIdentity.self).first
  }

  /// Makes a database its own: notes its identity and drops what waits to be pushed, unless that is to be kept.
  /// - Returns: the tables from which rows were dropped, and how many.
  package static func adopt(
    keepingWaiting: Bool, in configuration: PostgresConfiguration, logger: Logger, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [(table: String, dropped: Int64)] {
    var configuration = configuration
    configuration.applicationName = "tacet adopt"
    configuration.statementLimit = nil
    let connection = try await PostgresConnection.connect(configuration, logger: logger, on: reactor)
    defer { connection.close(on: reactor) }
    return try await connection.query(.adoptDatabase(keepsWaiting: keepingWaiting), on: reactor).map {
      row throws(PostgresError) in (table: try row.decode("what"), dropped: try row.decode("dropped"))
    }
  }
}

extension PushDatabase {
  /// Keeps sessions from working in a database that is a copy of another one.
  package static let ownDatabaseCheck = PushStatements.isOwnDatabase
}
