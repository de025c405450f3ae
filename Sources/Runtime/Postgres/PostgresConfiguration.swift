internal import Synchronization

/// How to connect, and the settings of a session.
package struct PostgresConfiguration: Sendable {
  /// A libpq URI or keyword/value string. Several hosts and `target_session_attrs` are allowed. Contains the password: never log
  /// it. Source: PostgreSQL manual, section 34.1.1, "Connection Strings".
  package var conninfo: String

  /// Whether sessions last as long as connections; see ``PostgresPoolMode``.
  package var poolMode = PostgresPoolMode.session

  /// The name in `pg_stat_activity`, unless the connection string sets one.
  package var applicationName = "tacet"

  /// The time for name resolution, connect and authentication, over all hosts together.
  package var connectLimit: Duration = .seconds(5)

  /// The server's `statement_timeout`: it ends a longer statement with SQLSTATE 57014. Nil sets none and also switches off
  /// ``silenceLimit`` and ``answerLimit``, as migrations need.
  package var statementLimit: Duration? = .seconds(5)

  /// How much longer than ``statementLimit`` the oldest statement may be unanswered before the connection is closed as dead. The
  /// server should have cancelled the statement by then.
  package var silenceLimit: Duration = .seconds(1)

  /// How long a caller waits for its answer, including its place in the pipeline. The statement stays in the pipeline, so its
  /// outcome is then unknown to the caller.
  package var answerLimit: Duration = .seconds(6)

  /// Statements in flight on one connection. At 25 µs each, 512 are 13 ms of a server process's work.
  package var pendingStatementsMax = 512

  /// `synchronous_commit = off` for the session: commits are acknowledged before they are on disk, and a crash of the database
  /// server may lose those of the last few hundred milliseconds.
  package var commitsAsynchronously = false

  /// The `search_path`. Without `public`, other roles cannot create functions that shadow Tacet's.
  package var searchPath = "pg_catalog, pg_temp"

  /// Further session settings by name, e.g. `["work_mem": "8MB"]`.
  package var settings: [String: String] = [:]

  /// Receives the texts that functions raise and the server's warnings, on the connection's thread. They may quote rows, so use it
  /// for Tacet's scripts only.
  package var noticeHandler: (@Sendable (String) -> Void)?

  /// Findings that sessions with copies of this configuration share.
  let hosts = HostMemory()
  let outages = OutageLog()
  private let chosen = ChosenTypes()

  /// What ``PostgresType/chosen(_:)`` means in this database; empty until it is known. All copies of the configuration share it.
  package var chosenTypes: [PostgresType] {
    get { chosen.types.withLock { $0 } }
    nonmutating set { chosen.types.withLock { $0 = newValue } }
  }

  /// The first statement of each session of a pool or listener. Its first column is false for a database that this program must
  /// not use; the session is then closed. Its second one, a `bigint[]`, has the numbers of ``chosenTypes``. A condition of class
  /// 42, such as a missing table, counts as true and says nothing of types.
  package var sessionCheck: PostgresStatement?

  package init(conninfo: String) {
    self.conninfo = conninfo
  }

  /// The session's settings, ordered by name.
  var sessionSettings: [(name: String, value: String)] {
    var all = settings
    all["TimeZone"] = all["TimeZone"] ?? "UTC"
    all["search_path"] = searchPath
    if commitsAsynchronously { all["synchronous_commit"] = "off" }
    if let statementLimit { all["statement_timeout"] = String(max(1, statementLimit.milliseconds)) }
    return all.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
  }
}

/// The types that sessions have found.
private final class ChosenTypes: Sendable {
  let types = Mutex<[PostgresType]>([])
}

extension Duration {
  /// Whole milliseconds, rounded towards zero.
  var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

/// How long a session with the server lasts.
package enum PostgresPoolMode: Sendable {
  /// As long as the connection, also behind a pooler in session mode. Settings and prepared statements are sent once, and LISTEN
  /// and advisory locks work.
  case session

  /// For one transaction, as with PgBouncer in transaction mode. Nothing is left in a session: each statement is parsed again,
  /// behind its settings in the same transaction. LISTEN and session locks cannot work.
  case transaction
}

extension PostgresConfiguration {
  /// The settings as libpq's `options`: `-c name=value`, with blanks and backslashes escaped. Nil in transaction mode.
  ///
  /// They are part of the connection request and cost no round trip. PgBouncer refuses them unless configured to ignore them.
  var sessionOptions: String? {
    guard poolMode == .session else { return nil }
    return sessionSettings.map { "-c \($0.name)=\(escaped($0.value))" }.joined(separator: " ")
  }

  /// A query that makes the settings for its transaction only.
  var transactionSettings: String {
    "select "
      + sessionSettings.map { "set_config(\($0.name.quotedLiteral), \($0.value.quotedLiteral), true)" }
      .joined(separator: ", ")
  }

  private func escaped(_ value: String) -> String {
    value.unicodeScalars.reduce(into: "") { text, scalar in
      if scalar == "\\" || scalar.properties.isWhitespace { text.unicodeScalars.append("\\") }
      text.unicodeScalars.append(scalar)
    }
  }
}
