internal import Postgres
internal import PushStore

// Whether the database can be reached, and is one that the service can work with.
extension Judgement {
  static func unreachable(_ error: PostgresError) -> Judgement {
    let remedy =
      switch (error.sqlState, error.code) {
      case (.invalidPassword?, _): "correct the user or password in DATABASE_URL"
      case (.invalidCatalogName?, _): "correct the database or user in DATABASE_URL, or create it"
      case (.cannotConnectNow?, _): "wait until the server has started"
      case (_, .timedOut):
        "see whether a firewall drops the connection, and whether the host in DATABASE_URL is right"
      case (_, .invalidConfiguration): "correct DATABASE_URL"
      default: "see whether the server runs and listens where DATABASE_URL says"
      }
    return .failure(error.debugDescription, remedy: remedy)
  }

  static func server(_ server: ExaminedServer) -> Judgement {
    let version = "PostgreSQL \(server.version / 10_000).\(server.version % 10_000)"
    // The oldest version that the project is tested with.
    if server.version < 140_000 {
      return .failure("\(version) is too old", remedy: "upgrade to PostgreSQL 14 or later")
    }
    guard server.isStandby || server.isReadOnly else { return .ok(version) }
    return .failure(
      "\(version); \(PostgresError.takesNoWrites)",
      remedy: server.isStandby
        ? "name the primary in DATABASE_URL, or several hosts with target_session_attrs=read-write"
        : "end what made it read-only, such as a full disk at your provider, and reset the setting")
  }

  /// Whose the sessions are said to be, and whose they are.
  /// - Parameter isTransaction: whether `DATABASE_POOL_MODE` is `transaction`.
  static func pooler(_ server: ExaminedServer, host: String, isTransaction: Bool) -> Judgement {
    let pooler = pooler(at: host)
    return switch (server.isPooled, isTransaction) {
    case (false, false): .ok("none; sessions are the service's own")
    case (true, true):
      .ok("\(pooler), with DATABASE_POOL_MODE=transaction: nobody listens, webhooks and polling wake the service")
    case (true, false): .ok("\(pooler), with DATABASE_POOL_MODE=session; the listen check tells whether that is so")
    case (false, true):
      .warning(
        "none was found, but DATABASE_POOL_MODE is transaction: claims take longer and nobody listens",
        remedy: "set DATABASE_POOL_MODE=session if DATABASE_URL names the server itself")
    }
  }

  /// Supabase names the hosts of its own pooler; PgBouncer is the usual one elsewhere.
  static func pooler(at host: String) -> String {
    host.hasSuffix(".pooler.supabase.com") ? "Supavisor at \(host)" : "a pooler, such as PgBouncer"
  }

  /// Nothing where the database is the one that the settings were written in.
  static func copy(_ identity: DatabaseIdentity?) -> [Judgement] {
    guard let identity, identity.isForeign else { return [] }
    return [
      .failure(
        "a copy of another one (\(identity.noted ?? "")), which carries what waits there: tacet serve does not start",
        remedy: "run tacet adopt, which drops what waits; with --keep-waiting if the database has only moved")
    ]
  }

  /// Whether notifications reach the service through its connection.
  static func listening(_ outcome: ListenExamination.Outcome, pooler: String?) -> Judgement {
    let transactionMode = "set DATABASE_POOL_MODE=transaction, or name the server itself in DATABASE_URL"
    switch outcome {
    case .heard: return .ok("a notification from another session arrived")
    case .timedOut:
      return .failure("no notification arrived in time", remedy: "see whether the database is overloaded")
    case .failed(let error) where error.message.contains("unsupported startup parameter"):
      return .failure("PgBouncer refuses the session's settings (\(error.message))", remedy: transactionMode)
    case .failed(let error) where error.code == .deaf:
      let between = pooler.map { "\($0), stands between and swallows them" } ?? "a half-open connection or a pooler"
      return .failure("notifications do not arrive: \(between)", remedy: transactionMode)
    case .failed(let error):
      return .failure(error.debugDescription, remedy: "mend what the database check shows")
    }
  }

  /// Whether this machine and the database agree on the time.
  ///
  /// All ages are the database's, so a decision does not depend on this machine. What does: provider tokens (APNs takes them
  /// for an hour), clients' tokens (60 s of leeway), and webhooks that triggers sign (300 s).
  static func clock(_ comparison: ClockComparison) -> Judgement {
    let distance = max(comparison.difference, .zero - comparison.difference)
    // What is certain of it.
    let least = max(distance - comparison.uncertainty, .zero)
    let measure = "within \(FindingWords.duration(comparison.uncertainty)) of measurement"
    // Clocks kept by NTP differ by less than a tenth of a second; beyond two seconds one of them is not kept, and goes on
    // drifting.
    if least < .seconds(2) { return .ok("\(FindingWords.duration(distance)) from the database's, \(measure)") }
    let side = comparison.difference > .zero ? "behind" : "ahead of"
    // From 60 s on clients' tokens that are good are refused.
    return Judgement(
      least < .seconds(60) ? .warning : .failure,
      "this machine's is \(FindingWords.duration(distance)) \(side) the database's, \(measure)",
      remedy: "keep both by NTP; the times of requests, tokens and signatures depend on it")
  }

  /// What the failure of a look means.
  static func failed(_ error: PostgresError, of name: String) -> Judgement {
    switch error.sqlState?.description {
    case "42501" where name == DatabaseLooks.rightsName:
      .failure(
        "this role may use nothing of schema tacet",
        remedy: "as the owner of the schema, call tacet.grant_service with the role's name")
    case "42501": .skipped("this role may not look; see the rights check")
    case "42P01", "42703", "42883", "3F000":
      .skipped("there is nothing of this name to look at (\(error.description)); the host has its own")
    default: .failure(error.debugDescription, remedy: "see what the server's log says of it at this moment")
    }
  }
}
