package import Logging
package import Postgres
package import PushRules
package import PushStore
package import Reactors

/// Notes when users were active, from the requests of their apps.
///
/// One in each reactor. Most requests are signs of users who were noted a moment ago: those cost nothing. The others are written
/// together, a second later, by one statement. No request waits for it, except one that says nothing else. A statement that fails
/// is logged, and the users' next signs are written.
package final class ActivityWriter {
  /// How long a user who was noted is not noted again, as the database does it.
  private static let interval = Duration.seconds(300)

  /// How long the first sign waits for others.
  private static let gathering = Duration.seconds(1)

  /// Users who are remembered. When there are more, all are forgotten: the database knows as well, and this is 5 MB.
  static let usersMax = 50_000

  private let store: PushDatabase
  private let logger: Logger
  private var notedAt: [HostID: UInt64] = [:]
  private var waiting: [HostID] = []

  private(set) var writes = 0

  /// Uses a store, which belongs to the same reactor.
  package init(store: PushDatabase, logger: Logger) {
    self.store = store
    self.logger = logger
  }

  /// Notes a sign of a user, soon.
  package func note(_ user: HostID, on reactor: isolated Reactor) {
    guard remember(user) else { return }
    waiting.append(user)
    guard waiting.count == 1 else { return }
    reactor.start {
      await reactor.sleep(for: Self.gathering)
      await self.writeWaiting(on: reactor)
    }
  }

  /// Notes that a user is active, before it returns.
  package func write(_ user: HostID, on reactor: isolated Reactor) async throws(PostgresError) {
    guard remember(user) else { return }
    try await write([user], on: reactor)
  }

  /// - Returns: whether the user is to be written.
  private func remember(_ user: HostID) -> Bool {
    let now = Reactor.now
    if let last = notedAt[user], now &- last < Self.interval.clampedNanoseconds { return false }
    if notedAt.count >= Self.usersMax { notedAt.removeAll(keepingCapacity: true) }
    notedAt[user] = now
    return true
  }

  private func writeWaiting(on reactor: isolated Reactor) async {
    let users = waiting
    waiting = []
    do throws(PostgresError) {
      try await write(users, on: reactor)
    } catch {
      logger.warning("activity of users was not noted", metadata: ["users": "\(users.count)", "error": "\(error)"])
    }
  }

  private func write(_ users: [HostID], on reactor: isolated Reactor) async throws(PostgresError) {
    writes += 1
    do throws(PostgresError) {
      try await store.noteActivity(of: users, on: reactor)
    } catch {
      for user in users { notedAt[user] = nil }
      throw error
    }
  }
}
