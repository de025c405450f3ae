import Foundation
import TestProcesses

extension TestPostgres {
  /// Makes and starts a hot standby that streams from this server; a cluster of its own, which ends as others do.
  package func launchStandby() async throws -> TestPostgres {
    try await onOwnThread { try TestPostgres(standbyOf: self) }
  }

  /// Makes a standby take writes, and waits until it does.
  package func promote() async throws {
    try await psql("select pg_promote(true, 60)")
  }

  /// Waits until a standby has replayed what this server has committed so far.
  package func awaitReplay(by standby: TestPostgres) async throws {
    // A commit that waits for its log takes all earlier ones along.
    try await psql("set synchronous_commit = on; select pg_logical_emit_message(true, 'tests', '')")
    let position = try await psql("select pg_current_wal_flush_lsn()").trimmingCharacters(in: .whitespacesAndNewlines)
    let deadline = ContinuousClock.now + .seconds(60)
    // There is nothing to wait on but the standby's own word.
    while try await standby.psql("select pg_last_wal_replay_lsn() >= '\(position)'") != "t\n" {
      guard ContinuousClock.now < deadline else { throw TestProcessError(description: "the standby does not follow") }
    }
  }

  /// How to connect to whichever of two servers takes writes.
  package func conninfo(database: String = "postgres", or other: TestPostgres) -> String {
    "host=\(folder),\(other.folder) port=\(port),\(other.port) user=postgres dbname=\(database) "
      + "target_session_attrs=read-write"
  }

  /// Copies a running server, with what a standby needs to follow it.
  func copy(_ primary: TestPostgres) throws {
    if isRoot { try run(["chown", account, folder]) }
    try run(
      asServer([
        Self.binaries + "/pg_basebackup", "-D", folder + "/data", "-d", primary.conninfo(), "--write-recovery-conf",
        "--checkpoint=fast", "--no-sync", "--wal-method=stream",
      ]))
  }
}
