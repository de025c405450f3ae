internal import CLibpq
import Foundation
import TestProcesses

/// What `psql -qAtc` does and prints, over the library that psql is made of and in this process: starting a psql costs more than
/// most statements of tests, and tests run thousands. No part of the service's own driver.
enum PlainQuery {
  /// Runs statements in a session of their own, which is one transaction unless they say otherwise.
  /// - Returns: the rows of all, unaligned and without headers, after the server's notices and before notifications.
  static func run(_ sql: String, through conninfo: String) throws -> String {
    let connection = PQconnectdb(conninfo)
    defer { PQfinish(connection) }
    let output = Output()
    func failure(_ message: UnsafePointer<CChar>?) -> TestProcessError {
      TestProcessError(description: "psql: \(output.text)\(message.map { String(cString: $0) } ?? "")")
    }
    guard PQstatus(connection) == CONNECTION_OK else { throw failure(PQerrorMessage(connection)) }
    return try withExtendedLifetime(output) {
      _ = PQsetNoticeProcessor(connection, takeNotice, Unmanaged.passUnretained(output).toOpaque())
      guard PQsendQuery(connection, sql) == 1 else { throw failure(PQerrorMessage(connection)) }
      while let result = PQgetResult(connection) {
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK: output.text += rows(of: result)
        case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: continue
        default: throw failure(PQresultErrorMessage(result))
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

  private static func rows(of result: OpaquePointer) -> String {
    (0..<PQntuples(result)).map { row in
      let values = (0..<PQnfields(result)).map { String(cString: PQgetvalue(result, row, $0)) }
      return values.joined(separator: "|") + "\n"
    }
    .joined()
  }

  private static let takeNotice: PQnoticeProcessor = { output, message in
    guard let output, let message else { return }
    Unmanaged<Output>.fromOpaque(output).takeUnretainedValue().text += String(cString: message)
  }

  private final class Output {
    var text = ""
  }
}
