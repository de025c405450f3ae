import Foundation

/// A database for one test, dropped when nobody keeps this any more: a run makes two thousand, of 12 MB each.
package final class ScratchDatabase: Sendable {
  package let server: TestPostgres
  package let name: String

  init(_ name: String, on server: TestPostgres) {
    (self.server, self.name) = (server, name)
  }

  /// How to connect to it over the Unix socket, as the superuser.
  package var conninfo: String { server.conninfo(database: name) }

  /// Waits for nothing. Of the test's sessions some may still be closing.
  deinit {
    let (server, name) = (server, name)
    server.endIdleSessions(with: name)
    Thread.detachNewThread {
      _ = try? server.runInKeptSession("drop database if exists \(name) with (force)", "postgres")
    }
  }
}
