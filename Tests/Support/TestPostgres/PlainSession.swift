internal import CLibpq
import Foundation
import TestProcesses

/// What `psql -qAtc` does and prints, over the library that psql is made of and in this process: starting a psql costs more than
/// most statements of tests, and tests run thousands. No part of the service's own driver.
///
/// `@unchecked Sendable`: whoever has it is the only one, because a server's idle sessions are handed to one caller each.
final class PlainSession: @unchecked Sendable {
  private let connection: OpaquePointer?

  init(_ conninfo: String) throws {
    connection = PQconnectdb(conninfo)
    guard PQstatus(connection) == CONNECTION_OK else { throw failure("", PQerrorMessage(connection)) }
  }

  deinit { PQfinish(connection) }

  /// Runs statements in a session of their own.
  static func run(_ sql: String, through conninfo: String) throws -> String {
    try PlainSession(conninfo).run(sql)
  }

  /// Runs statements, which are one transaction unless they say otherwise.
  /// - Returns: the rows of all, unaligned and without headers, after the server's notices and before notifications.
  func run(_ sql: String) throws -> String {
    let output = Output()
    return try withExtendedLifetime(output) {
      _ = PQsetNoticeProcessor(connection, takeNotice, Unmanaged.passUnretained(output).toOpaque())
      defer { _ = PQsetNoticeProcessor(connection, takeNotice, nil) }
      guard PQsendQuery(connection, sql) == 1 else { throw failure(output.text, PQerrorMessage(connection)) }
      while let result = PQgetResult(connection) {
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK: output.text += Self.rows(of: result)
        case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: continue
        default: throw failure(output.text, PQresultErrorMessage(result))
        }
      }
      _ = PQconsumeInput(connection)
      while let notification = PQnotifies(connection) {
        defer { PQfreemem(notification) }
        output.text += "Asynchronous notification \"\(String(cString: notification.pointee.relname))\" received.\n"
      }
      return output.text
    }
  }

  /// Makes the session like a new one; false when it cannot be.
  func forget() -> Bool {
    guard PQtransactionStatus(connection) == PQTRANS_IDLE else { return false }
    let result = PQexec(connection, "discard all")
    defer { PQclear(result) }
    return PQresultStatus(result) == PGRES_COMMAND_OK
  }

  /// Whether the server has not ended it.
  var isOpen: Bool { PQconsumeInput(connection) == 1 && PQstatus(connection) == CONNECTION_OK }

  private func failure(_ output: String, _ message: UnsafePointer<CChar>?) -> TestProcessError {
    TestProcessError(description: "psql: \(output)\(message.map { String(cString: $0) } ?? "")")
  }

  private static func rows(of result: OpaquePointer) -> String {
    (0..<PQntuples(result)).map { row in
      let values = (0..<PQnfields(result)).map { String(cString: PQgetvalue(result, row, $0)) }
      return values.joined(separator: "|") + "\n"
    }
    .joined()
  }

  private final class Output {
    var text = ""
  }

  private let takeNotice: PQnoticeProcessor = { output, message in
    guard let output, let message else { return }
    Unmanaged<Output>.fromOpaque(output).takeUnretainedValue().text += String(cString: message)
  }
}

/// Sessions of one server that wait for their next statements: a test asks some five times, and a session that knows the tables and
/// functions of its database answers at a fraction of what a new one costs the machine.
///
/// Nothing is left in a session that is kept. What only a new session shows (settings of databases and roles) or what
/// disturbs a look (statistics of ended sessions, databases that somebody uses) runs in a new one, and ends those that are kept.
struct IdleSessions {
  private static let countMax = 16
  private static let newSessionWords = [
    "create database", "drop database", "alter database", "alter role", "alter system", "pg_reload_conf", "pg_stat",
  ]

  private var sessions: [(database: String, session: PlainSession)] = []

  /// Whether statements can have a session that others had before.
  static func canServe(_ sql: String) -> Bool {
    !newSessionWords.contains { sql.range(of: $0, options: .caseInsensitive) != nil }
  }

  mutating func take(_ database: String) -> PlainSession? {
    while let index = sessions.lastIndex(where: { $0.database == database }) {
      let session = sessions.remove(at: index).session
      if session.isOpen { return session }
    }
    return nil
  }

  mutating func keep(_ session: PlainSession, _ database: String) {
    sessions.append((database, session))
    if sessions.count > Self.countMax { sessions.removeFirst() }
  }

  /// Ends the sessions with a database, or all.
  mutating func end(_ database: String? = nil) {
    sessions.removeAll { database == nil || $0.database == database }
  }
}
