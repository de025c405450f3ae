internal import Postgres
internal import PushStore

/// Whether notifications reach the service through its connection.
enum ListenCheck {
  static let name = "listen"

  static let notUsed = CheckFinding(
    name, .skipped, "DATABASE_POOL_MODE is transaction, and notifications do not pass such a pooler")

  /// - Parameters:
  ///   - pooler: who stands between, if somebody does.
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
