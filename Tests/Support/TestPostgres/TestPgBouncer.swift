import Foundation
import Synchronization
import TestProcesses

/// A PgBouncer in transaction mode in front of a ``TestPostgres``, for tests; ends with this process, as the server does.
package final class TestPgBouncer: Sendable {
  /// The port on 127.0.0.1. It asks for no password and is the superuser to the server.
  package let port: UInt16

  /// Where Debian has it, which is in nobody's `PATH` but root's.
  private static let program =
    FileManager.default.isExecutableFile(atPath: "/usr/sbin/pgbouncer") ? "/usr/sbin/pgbouncer" : "pgbouncer"

  private let folder: String
  private let watchdog: Watchdog

  /// Starts a pooler and waits until it answers.
  /// - Parameters:
  ///   - poolSize: sessions with the server, for each database.
  ///   - settings: further settings, `name = value`.
  package static func launch(
    before server: TestPostgres, poolSize: Int = 2, settings: [String] = []
  ) async throws -> TestPgBouncer {
    try await onOwnThread { try TestPgBouncer(server, poolSize, settings) }
  }

  private init(_ server: TestPostgres, _ poolSize: Int, _ settings: [String]) throws {
    folder = try makeTemporaryFolder("test-pgbouncer", isKept: true)
    port = try reservedPort()
    let file = folder + "/pgbouncer.ini"
    let lines = [
      "[databases]", "* = host=\(server.folder) port=\(server.port) user=postgres", "[pgbouncer]",
      "listen_addr = 127.0.0.1", "listen_port = \(port)", "unix_socket_dir =", "auth_type = any",
      "pool_mode = transaction", "default_pool_size = \(poolSize)", "max_client_conn = 500",
    ]
    try (lines + settings).joined(separator: "\n").write(toFile: file, atomically: false, encoding: .utf8)
    if isRoot { try run(["chown", "-R", account, folder]) }
    watchdog = try Watchdog(asServer([Self.program, file]), folder: folder, stoppedBy: "TERM")
    try awaitReady()
  }

  /// How to connect to a database of the server through the pooler.
  package func conninfo(database: String = "postgres") -> String {
    "host=127.0.0.1 port=\(port) user=postgres dbname=\(database)"
  }

  /// There is nothing to wait on but the port.
  private func awaitReady() throws {
    var failure = ""
    for _ in 0..<startPollsMax {
      do {
        _ = try PlainSession.run("select 1", through: conninfo())
        return
      } catch {
        failure = "\(error)"
      }
      usleep(pollMicroseconds)
    }
    let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
    throw TestProcessError(description: "the pooler did not start: \(failure)\n\(log)")
  }
}

private let pollMicroseconds: UInt32 = 20_000

/// Half a minute; a start takes a tenth of a second.
private let startPollsMax = 1500
