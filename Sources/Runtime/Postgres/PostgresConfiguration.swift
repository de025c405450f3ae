/// How to connect, and what a session is like.
public struct PostgresConfiguration: Sendable {
  /// A libpq URI or keyword/value string; several hosts and `target_session_attrs` are allowed. Contains the password:
  /// never log it. Source: PostgreSQL manual, section 34.1.1, "Connection Strings".
  public var conninfo: String

  /// Whose a session with the server is; see ``PostgresPoolMode``.
  public var poolMode = PostgresPoolMode.session

  /// What `pg_stat_activity` shows, unless the connection string says otherwise.
  public var applicationName = "tacet"

  /// The whole time for name resolution, connect and authentication, over all hosts together.
  public var connectLimit: Duration = .seconds(5)

  /// The server's `statement_timeout`: it ends a statement that runs longer, with SQLSTATE 57014. Nil sets none and
  /// also switches off ``silenceLimit`` and ``answerLimit``, which migrations need.
  public var statementLimit: Duration? = .seconds(5)

  /// How much longer than ``statementLimit`` the server may leave the oldest statement unanswered before the connection
  /// is taken for dead and closed. The server should have cancelled the statement by then.
  public var silenceLimit: Duration = .seconds(1)

  /// How long a caller waits for its answer, its place in the pipeline included. The statement itself stays in the
  /// pipeline: its outcome is then unknown to the caller.
  public var answerLimit: Duration = .seconds(6)

  /// Statements in flight on one connection. At 25 µs each, 512 are 13 ms of a server process's work.
  public var pendingStatementsMax = 512

  /// `synchronous_commit = off` for the session: a commit is acknowledged before it is on disk, and a crash of the
  /// database server may forget the last few hundred milliseconds of them.
  public var commitsAsynchronously = false

  /// The `search_path`. Without `public`, nobody who may create there can put a function in front of ours.
  public var searchPath = "pg_catalog, pg_temp"

  /// Further session settings by name, e.g. `["work_mem": "8MB"]`.
  public var settings: [String: String] = [:]

  /// Told what functions raise and what the server warns of, word for word, on the connection's thread. It may quote rows: for
  /// scripts of our own.
  public var noticeHandler: (@Sendable (String) -> Void)?

  /// What sessions of copies of this configuration learn for each other.
  let hosts = HostMemory()
  let outages = OutageLog()

  /// What each session of a pool or listener asks first: one that answers false is given up, because it leads to a database
  /// that this program must not work in. A condition of class 42, such as a missing table, counts as true.
  public var sessionCheck: PostgresStatement?

  /// Settings with defaults; change what differs.
  public init(conninfo: String) {
    self.conninfo = conninfo
  }

  /// The session's settings by name and value, in a fixed order.
  var sessionSettings: [(name: String, value: String)] {
    var all = settings
    all["TimeZone"] = all["TimeZone"] ?? "UTC"
    all["search_path"] = searchPath
    if commitsAsynchronously { all["synchronous_commit"] = "off" }
    if let statementLimit { all["statement_timeout"] = String(max(1, statementLimit.milliseconds)) }
    return all.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
  }
}

extension Duration {
  /// Whole milliseconds, cut towards zero; the bounds of `Int64` are out of any configuration's reach.
  var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

/// Whose the sessions with the server are: ours alone, or lent by a pooler.
public enum PostgresPoolMode: Sendable {
  /// Ours, as long as the connection lasts: settings and prepared statements are sent once, and LISTEN and advisory locks
  /// work. A pooler that lends a session for as long as we are connected is the same.
  case session

  /// Another one for each transaction, as PgBouncer lends them in transaction mode. Nothing may be left in a session:
  /// each statement is parsed anew, and its settings come before it in its own transaction. LISTEN and session locks
  /// cannot work.
  case transaction
}

extension PostgresConfiguration {
  /// The settings as libpq's `options`: `-c name=value`, blanks and backslashes escaped; nil where there is no session to
  /// keep them.
  ///
  /// Sent with the connection request, they cost no round trip. PgBouncer refuses them unless told to ignore them.
  var sessionOptions: String? {
    guard poolMode == .session else { return nil }
    return sessionSettings.map { "-c \($0.name)=\(escaped($0.value))" }.joined(separator: " ")
  }

  /// A query that makes the settings for the transaction it is in, and for nobody after it.
  var transactionSettings: String {
    "select "
      + sessionSettings.map { "set_config(\(quoted($0.name)), \(quoted($0.value)), true)" }
      .joined(separator: ", ")
  }

  private func escaped(_ value: String) -> String {
    value.reduce(into: "") { text, character in
      if character == "\\" || character.isWhitespace { text.append("\\") }
      text.append(character)
    }
  }

  /// As an SQL literal. The form with `E` reads backslashes alike whatever `standard_conforming_strings` is.
  private func quoted(_ text: String) -> String {
    text.reduce(into: "E'") { literal, character in
      if character == "\\" || character == "'" { literal.append(character) }
      literal.append(character)
    } + "'"
  }
}
