internal import Postgres
internal import PushStore

/// Whether the database can be reached, and is one that the service can work with.
enum DatabaseCheck {
  static let name = "database"

  /// The oldest version that the project is tested with.
  private static let versionMin = 140_000

  static func judge(connectFailure error: PostgresError) -> CheckFinding {
    CheckFinding(name, .failure, error.debugDescription, remedy: remedy(for: error))
  }

  static func judge(_ server: ExaminedServer, host: String, asPool mode: PoolWords) -> [CheckFinding] {
    [
      CheckFinding(name, .ok, "connected to \(host.isEmpty ? "the server" : host) as role \(server.role)"),
      version(of: server), mode.judge(server, host: host),
    ]
  }

  private static func version(of server: ExaminedServer) -> CheckFinding {
    let name = "server"
    let version = "PostgreSQL \(server.version / 10_000).\(server.version % 10_000)"
    if server.version < versionMin {
      return CheckFinding(name, .failure, "\(version) is too old", remedy: "upgrade to PostgreSQL 14 or later")
    }
    if server.isStandby {
      return CheckFinding(
        name, .failure, "\(version), a standby that takes no writes",
        remedy: "name the primary in DATABASE_URL, or several hosts with target_session_attrs=read-write")
    }
    return CheckFinding(name, .ok, version)
  }

  private static func remedy(for error: PostgresError) -> String {
    switch error.sqlState {
    case .invalidPassword?: "correct the user or password in DATABASE_URL"
    case .invalidCatalogName?: "correct the database or user in DATABASE_URL, or create it"
    case .cannotConnectNow?: "wait until the server has started"
    default:
      switch error.code {
      case .timedOut: "see whether a firewall drops the connection, and whether the host in DATABASE_URL is right"
      case .invalidConfiguration: "correct DATABASE_URL"
      default: "see whether the server runs and listens where DATABASE_URL says"
      }
    }
  }
}

/// Whose the sessions are said to be, and whose they are.
struct PoolWords {
  /// Whether `DATABASE_POOL_MODE` is `transaction`.
  let isTransaction: Bool

  func judge(_ server: ExaminedServer, host: String) -> CheckFinding {
    let name = "pooler"
    let pooler = Self.pooler(at: host)
    switch (server.isPooled, isTransaction) {
    case (false, false):
      return CheckFinding(name, .ok, "none; sessions are the service's own")
    case (true, true):
      return CheckFinding(
        name, .ok,
        "\(pooler), with DATABASE_POOL_MODE=transaction: nobody listens, webhooks and polling wake the service")
    case (true, false):
      return CheckFinding(
        name, .ok, "\(pooler), with DATABASE_POOL_MODE=session; the listen check tells whether that is so")
    case (false, true):
      return CheckFinding(
        name, .warning, "none was found, but DATABASE_POOL_MODE is transaction: claims take longer and nobody listens",
        remedy: "set DATABASE_POOL_MODE=session if DATABASE_URL names the server itself")
    }
  }

  /// Supabase names the hosts of its own pooler; PgBouncer is the usual one elsewhere.
  static func pooler(at host: String) -> String {
    host.hasSuffix(".pooler.supabase.com") ? "Supavisor at \(host)" : "a pooler, such as PgBouncer"
  }
}
