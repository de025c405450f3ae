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

  /// Nothing where it is the one that the settings were written in.
  static func judge(_ identity: DatabaseIdentity?) -> [CheckFinding] {
    guard let identity, identity.isForeign else { return [] }
    return [
      CheckFinding(
        name, .failure,
        "a copy of another one (\(identity.noted ?? "")), which carries what waits there: tacet serve does not start",
        remedy: "run tacet adopt, which drops what waits; with --keep-waiting if the database has only moved")
    ]
  }

  private static func version(of server: ExaminedServer) -> CheckFinding {
    let name = "server"
    let version = "PostgreSQL \(server.version / 10_000).\(server.version % 10_000)"
    if server.version < versionMin {
      return CheckFinding(name, .failure, "\(version) is too old", remedy: "upgrade to PostgreSQL 14 or later")
    }
    if server.isStandby || server.isReadOnly {
      return CheckFinding(
        name, .failure, "\(version); \(PostgresError.takesNoWrites)",
        remedy: server.isStandby
          ? "name the primary in DATABASE_URL, or several hosts with target_session_attrs=read-write"
          : "end what made it read-only, such as a full disk at your provider, and reset the setting")
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

/// Whether notifications reach the service through its connection.
enum ListenCheck {
  static let name = "listen"

  static let notUsed = CheckFinding(
    name, .skipped, "DATABASE_POOL_MODE is transaction, and notifications do not pass such a pooler")

  static let notWanted = CheckFinding(
    name, .skipped, "IDLE_MODE is webhook, and a session that listens would keep the database awake")

  static func judge(_ outcome: ListenExamination.Outcome, pooler: String?) -> CheckFinding {
    switch outcome {
    case .heard: CheckFinding(name, .ok, "a notification from another session arrived")
    case .failed(let error): failure(error, pooler: pooler)
    case .timedOut:
      CheckFinding(name, .failure, "no notification arrived in time", remedy: "see whether the database is overloaded")
    }
  }

  private static func failure(_ error: PostgresError, pooler: String?) -> CheckFinding {
    if error.message.contains("unsupported startup parameter") {
      return CheckFinding(
        name, .failure, "PgBouncer refuses the session's settings (\(error.message))", remedy: transactionMode)
    }
    guard error.code == .deaf else {
      return CheckFinding(name, .failure, error.debugDescription, remedy: "mend what the database check shows")
    }
    let between = pooler.map { "\($0), stands between and swallows them" } ?? "a half-open connection or a pooler"
    return CheckFinding(name, .failure, "notifications do not arrive: \(between)", remedy: transactionMode)
  }

  private static let transactionMode =
    "set DATABASE_POOL_MODE=transaction, or name the server itself in DATABASE_URL"
}

/// Whether this machine and the database agree on the time.
///
/// All ages are the database's, so a decision does not depend on this machine. What does: provider tokens (APNs takes them
/// for an hour), clients' tokens (60 s of leeway), and webhooks that triggers sign (300 s).
enum ClockCheck {
  static let name = "clock"

  /// Clocks kept by NTP differ by less than a tenth of a second; beyond two seconds one of them is not kept, and goes on
  /// drifting.
  static let warningFrom = Duration.seconds(2)
  /// From here on clients' tokens that are good are refused.
  static let failureFrom = Duration.seconds(60)

  static func judge(_ comparison: ClockComparison) -> CheckFinding {
    let distance = max(comparison.difference, .zero - comparison.difference)
    // What is certain of it.
    let least = max(distance - comparison.uncertainty, .zero)
    let side = comparison.difference > .zero ? "behind" : "ahead of"
    let measure = "within \(FindingWords.duration(comparison.uncertainty)) of measurement"
    if least < warningFrom {
      return CheckFinding(name, .ok, "\(FindingWords.duration(distance)) from the database's, \(measure)")
    }
    return CheckFinding(
      name, least < failureFrom ? .warning : .failure,
      "this machine's is \(FindingWords.duration(distance)) \(side) the database's, \(measure)",
      remedy: "keep both by NTP; the times of requests, tokens and signatures depend on it")
  }
}
