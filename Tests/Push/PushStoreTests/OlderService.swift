import Foundation
import Reactors
import TestRepository
import Testing

@testable import Postgres
@testable import PushStore

/// The two services that may share a database while one is replaced.
enum ServiceVersion: CaseIterable, Sendable {
  /// Of version 32: it keeps the end of a lease in available_at.
  case older
  /// This one.
  case newer

  var other: ServiceVersion { self == .older ? .newer : .older }

  /// A statement as this version has it; the older one's, by its name, is in `Versions/32`.
  func call(_ call: StatementCall) throws -> StatementCall {
    guard self == .older else { return call }
    let statement = try Self.olderStatement(call.statement.name)
    // Parameters that were added since are the last.
    return StatementCall(statement, Array(call.parameters.prefix(statement.parameterTypes.count)))
  }

  private static func olderStatement(_ name: String) throws -> PostgresStatement {
    let text = try Repository.text("Tests/Push/PushStoreTests/Versions/32/\(name).sql")
    var names: [Substring] = []
    var types: [PostgresType] = []
    for parameter in text.matches(of: #/--   :(\w+) +(\w+)(\[\])? /#) {
      let element = try #require(elements[parameter.2])
      names.append(parameter.1)
      types.append(parameter.3 == nil ? element : .array(of: element))
    }
    let lines = text.split(separator: "\n").filter { !$0.trimmingPrefix(while: \.isWhitespace).hasPrefix("--") }
    let sql = lines.joined(separator: "\n").replacing(#/:(\w+)/#) { match in
      names.firstIndex(of: match.1).map { "$\($0 + 1)" } ?? String(match.0)
    }
    return PostgresStatement("older_\(name)", sql, types)
  }

  private static let elements: [Substring: PostgresType] = [
    "bigint": .int8, "integer": .int4, "text": .text, "uuid": .uuid, "boolean": .bool,
  ]
}

extension Session {
  /// Claims as a service of this version does.
  /// - Parameter messages: by the statement for messages alone.
  func claim(
    as version: ServiceVersion, messages: Bool = false, eventsMax: Int = 1000, recipientsMax: Int = 250,
    lease: Duration = .seconds(60), on reactor: isolated Reactor
  ) async throws -> [PushEvent] {
    var limits = ClaimLimits(eventsMax: eventsMax, deliveriesMax: 1000, lease: lease)
    limits.recipientsMax = recipientsMax
    let rows = try await connection.query(
      try version.call(messages ? .claimMessages(limits) : .claim(limits)), on: reactor)
    return try ClaimRow.events(
      from: rows, columns: messages ? ClaimRow.claimMessages : ClaimRow.claim, recipientsMax: recipientsMax)
  }

  /// Records as a service of this version does.
  func record(
    _ events: [PushEvent], as version: ServiceVersion, on reactor: isolated Reactor,
    _ outcome: (UUID) -> RecipientOutcome
  ) async throws {
    let decided = events.map {
      DecidedEvent(event: $0, outcomes: $0.recipients.map { outcome($0.userID) }, deadTokens: [], wokenBy: "test")
    }
    try await DecidedEvent.record(decided) { call throws(PostgresError) in
      guard let call = try? version.call(call) else { throw PostgresError(.server) }
      return try await connection.query(call, on: reactor)
    }
  }

  /// What the rescuer does, except for what it finds beyond the bounds of a claim.
  /// - Returns: how much was parked.
  func rescue(as version: ServiceVersion, rescuesMax: Int, on reactor: isolated Reactor) async throws -> Int {
    try await connection.query(try version.call(.bringForward), on: reactor)
    try await connection.query(
      try version.call(.discardTooOld(lifeMicroseconds: 3_600_000_000, rowsMax: 100)), on: reactor)
    return try await connection.query(
      try version.call(.parkExhausted(rescuesMax: rescuesMax, rowsMax: 100)), on: reactor
    ).one().decode(0)
  }
}
