import API
import Foundation
import Postgres
import PushRules
import PushStore
import Reactors
import TestIDs
import TestLogs
import TestPostgres
import TestReceivers
import Testing

@testable import Operations

/// A database with events, a receiver, and processes that send to it.
struct SenderRig: Sendable {
  static let key = Array("the key of events of these tests".utf8)

  let server: TestPostgres
  let database: String
  let receiver: EventReceiver

  /// Runs a test; everything is stopped afterwards.
  static func run(_ test: (SenderRig) async throws -> Void) async throws {
    let scratch = try await TestPostgres.shared.makeMigratedDatabase()
    defer { withExtendedLifetime(scratch) {} }
    let receiver = try await EventReceiver(key: key, logger: RunLogs.logger)
    let result: Result<Void, any Error>
    do {
      result = .success(try await test(SenderRig(server: scratch.server, database: scratch.name, receiver: receiver)))
    } catch {
      result = .failure(error)
    }
    await receiver.stop()
    try result.get()
  }

  @discardableResult
  func sql(_ text: String) async throws -> String {
    try await server.psql(IDTypes.tested(text), database: database).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Events of a user, in this order.
  func add(_ types: [String], of user: HostID) async throws {
    for type in types {
      try await sql("insert into tacet.host_events (type, user_id, reason) values ('\(type)', '\(user)', 'why')")
    }
  }

  /// Runs a body while so many processes send.
  func sending(
    _ processes: Int = 1, to url: String? = nil, limit: Duration = .seconds(15), places: Int = 8,
    givesUp: Duration = .seconds(3600), _ body: () async throws -> Void
  ) async throws {
    let group = try ReactorGroup(count: processes)
    var senders: [ReactorBound<(HostEventSender, PostgresPool)>] = []
    for reactor in group.reactors {
      let conninfo = server.conninfo(database: database)
      let url = url ?? receiver.url
      senders.append(
        try await reactor.perform { reactor in
          var database = PostgresConfiguration(conninfo: conninfo)
          database.chosenTypes = IDTypes.tested.postgresTypes
          database.settings = PushDatabase.serviceSettings
          let pool = PostgresPool(database, size: 2, logger: RunLogs.logger)
          pool.start(on: reactor)
          var configuration = HostEventConfiguration(url: url, signer: WebhookSigner(keys: [Self.key]))
          (configuration.limit, configuration.places, configuration.givesUp) = (limit, places, givesUp)
          let sender = HostEventSender(
            store: PushDatabase(pool: pool), receiver: HostEventReceiver(configuration, on: reactor),
            interval: .milliseconds(20),
            logger: RunLogs.logger)
          reactor.start { await sender.run(on: reactor) }
          return ReactorBound((sender, pool), on: reactor)
        })
    }
    let result: Result<Void, any Error>
    do {
      result = .success(try await body())
    } catch {
      result = .failure(error)
    }
    for bound in senders {
      await bound.perform { sender, reactor in
        sender.0.stop(on: reactor)
        await sender.0.drain(within: .seconds(5), on: reactor)
        await sender.1.close(on: reactor)
      }
    }
    await group.stop()
    try result.get()
  }

  /// Waits until a query says `t`; there is no signal of it but the database.
  func until(_ condition: String) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try await sql("select \(condition)") != "t" {
      try #require(ContinuousClock.now < deadline, "\(condition)")
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Makes what waits due, as if its time had come.
  func pass() async throws {
    try await sql("update tacet.host_events set due_at = now() where not is_claimed and state = 'waiting'")
  }

  /// The types that a user's host has taken, in order, each event once.
  func taken(of user: HostID) -> [String] {
    var known: Set<String> = []
    return receiver.taken.filter { $0.user == user.text && known.insert($0.id).inserted }.map(\.type)
  }
}
