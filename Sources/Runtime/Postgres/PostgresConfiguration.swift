internal import CLibpq
internal import Glibc
internal import Reactors
internal import Synchronization

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

  package init(conninfo: String) { self.conninfo = conninfo }

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

private final class ChosenTypes: Sendable {
  let types = Mutex<[PostgresType]>([])
}

extension Duration {
  /// Whole milliseconds, rounded towards zero.
  var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

/// How long a session with the server lasts.
package enum PostgresPoolMode: String, CaseIterable, Sendable {
  /// As long as the connection, also behind a pooler in session mode. Settings and prepared statements are sent once, and LISTEN
  /// and advisory locks work.
  case session
  /// For one transaction, as with PgBouncer in transaction mode. Nothing is left in a session: each statement is parsed again,
  /// behind its settings in the same transaction. LISTEN and session locks cannot work.
  case transaction
}

extension PostgresConfiguration {
  /// The settings as libpq's `options`: `-c name=value`, with blanks and backslashes escaped. Nil in transaction mode.
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

/// One place to connect to. An empty string leaves the choice to libpq.
struct ConnectionTarget: Hashable {
  var host: String
  var address: String
  var port: String

  /// Whether libpq would have to resolve the host, which blocks.
  var needsResolution: Bool { address.isEmpty && !host.isEmpty && !host.hasPrefix("/") && !host.hasPrefix("@") }
}

/// The keywords of a connection string, with its hosts as a list that can be resolved and reordered.
struct ConnectionParameters {
  private(set) var keywords: [String: String]
  var targets: [ConnectionTarget]

  /// Parses a connection string and adds the configuration's settings.
  /// - Throws: ``PostgresError/Code/invalidConfiguration``, without libpq's text, which may quote the password.
  init(_ configuration: PostgresConfiguration) throws(PostgresError) {
    keywords = try ConnectionParameters.parse(configuration.conninfo)
    targets = ConnectionParameters.targets(of: keywords)
    // `startConnect(to:)` sets one host, so the string's list must go.
    for key in ["host", "port", "hostaddr"] where !targets.isEmpty { keywords[key] = nil }
    // The string's options come last and so have precedence.
    let options = [configuration.sessionOptions, keywords["options"]].compactMap { $0 }
    if !options.isEmpty { keywords["options"] = options.joined(separator: " ") }
    keywords["client_encoding"] = "UTF8"
    if keywords["application_name"] == nil { keywords["application_name"] = configuration.applicationName }
    // Kerberos negotiation looks up credentials, and perhaps their server, with blocking calls.
    if keywords["gssencmode"] == nil { keywords["gssencmode"] = "disable" }
  }

  /// Whether to use a standby if there is one, and otherwise any server.
  var prefersStandby: Bool { keywords["target_session_attrs"] == "prefer-standby" && targets.count > 1 }

  func asking(for attributes: String) -> ConnectionParameters {
    var parameters = self
    parameters.keywords["target_session_attrs"] = attributes
    return parameters
  }

  func startConnect(to target: ConnectionTarget) -> OpaquePointer? {
    let all = keywords.merging(Self.keywords(of: target)) { $1 }
    let keys = all.map { UnsafePointer(strdup($0.key)) } + [nil]
    let values = all.map { UnsafePointer(strdup($0.value)) } + [nil]
    defer { for text in keys + values { free(UnsafeMutablePointer(mutating: text)) } }
    return PQconnectStartParams(keys, values, 0)
  }

  /// Leaves empty parts to libpq's defaults and the environment.
  static func keywords(of target: ConnectionTarget) -> [String: String] {
    ["host": target.host, "port": target.port, "hostaddr": target.address].filter { !$0.value.isEmpty }
  }

  private static func parse(_ conninfo: String) throws(PostgresError) -> [String: String] {
    guard let options = PQconninfoParse(conninfo, nil) else { throw PostgresError(.invalidConfiguration) }
    defer { PQconninfoFree(options) }
    var keywords: [String: String] = [:]
    var option = options
    while let key = option.pointee.keyword {
      if let value = option.pointee.val { keywords[String(cString: key)] = String(cString: value) }
      option += 1
    }
    return keywords
  }

  /// Lists are separated by commas; one port serves all hosts.
  private static func targets(of keywords: [String: String]) -> [ConnectionTarget] {
    let hosts = list(keywords["host"])
    let addresses = list(keywords["hostaddr"])
    let ports = list(keywords["port"])
    return (0..<max(hosts.count, addresses.count)).map { index in
      ConnectionTarget(
        host: index < hosts.count ? hosts[index] : "", address: index < addresses.count ? addresses[index] : "",
        port: index < ports.count ? ports[index] : ports.count == 1 ? ports[0] : "")
    }
  }

  private static func list(_ text: String?) -> [String] {
    (text ?? "").isEmpty ? [] : (text ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }
}

extension ConnectionParameters {
  /// Replaces each host name by targets for its addresses, in the resolver's order.
  /// libpq resolves names inside `PQconnectStart` with a blocking call, but not with `hostaddr`. It still verifies the server's
  /// certificate against `host`. A host that only the environment or a service file names is unknown here, and does block.
  /// - Throws: ``PostgresError/Code/notConnected`` when no host has an address.
  mutating func resolve() async throws(PostgresError) {
    guard targets.contains(where: \.needsResolution) else { return }
    var resolved: [ConnectionTarget] = []
    var failure = ""
    for target in targets {
      do throws(ResolutionError) {
        resolved += try await Self.addresses(of: target)
      } catch {
        failure = error.description
      }
    }
    guard !resolved.isEmpty else { throw PostgresError(.notConnected, failure) }
    targets = resolved
  }

  private static func addresses(of target: ConnectionTarget) async throws(ResolutionError) -> [ConnectionTarget] {
    guard target.needsResolution else { return [target] }
    let port = UInt16(target.port) ?? 0
    let addresses = try await Resolver.addresses(of: target.host, port: port)
    return addresses.prefix(addressesPerHostMax).map { address in
      ConnectionTarget(host: target.host, address: IPAddress(address).map { "\($0)" } ?? "", port: target.port)
    }
  }

  /// The most addresses of one name. A name with more is a misconfiguration rather than a cluster.
  private static let addressesPerHostMax = 8

}

extension PostgresConfiguration {
  /// Why libpq could not use a connection string, or would take a part of its password for something else; nil when it is usable.
  /// Nothing of the string is in the text but names of libpq's own parameters. Connects to nothing.
  package static func fault(of conninfo: String) -> String? {
    do throws(PostgresError) {
      return try ConnectionParameters.fault(of: conninfo)
    } catch {
      return "not understood by libpq"
    }
  }
}

extension ConnectionParameters {
  fileprivate static func fault(of conninfo: String) throws(PostgresError) -> String? {
    let keywords = try parse(conninfo)
    // A URI ends the password at its first @ or /. What follows would be a host, a port or a database, which are printed.
    let path = conninfo.firstRange(of: "://").map { conninfo[$0.upperBound...].prefix { $0 != "?" } } ?? ""
    let isPasswordCut = path.firstIndex(of: "/").map { path[$0...].contains("@") } ?? false
    guard !isPasswordCut, targets(of: keywords).allSatisfy({ isHost($0.host) && isPort($0.port) }),
      keywords["port"].map({ list($0).allSatisfy(isPort) }) ?? true
    else { return "its host, port or database is none" }
    return refusedParameter(keywords).map { "libpq does not take its value of \($0)" }
  }

  /// A name, an address, a folder, or a socket in the abstract namespace.
  private static func isHost(_ text: String) -> Bool {
    if text.hasPrefix("/") { return true }
    let name = text.hasPrefix("@") ? text.dropFirst() : text[...]
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: ":"), UInt8(ascii: "%"):
        true
      default: false
      }
    }
  }

  private static func isPort(_ text: String) -> Bool { text.isEmpty || Int(text).map((1...65_535).contains) ?? false }

  /// The parameter whose value libpq refuses when it begins to connect, such as an unknown `sslmode`. It begins with a folder
  /// without a socket, which fails at once.
  private static func refusedParameter(_ keywords: [String: String]) -> String? {
    var keywords = keywords
    for key in ["hostaddr", "service", "passfile"] { keywords[key] = nil }
    keywords["host"] = "/nonexistent"
    keywords["port"] = "1"
    let parameters = ConnectionParameters(keywords: keywords, targets: [])
    let handle = parameters.startConnect(to: ConnectionTarget(host: "", address: "", port: ""))
    defer { PQfinish(handle) }
    let message = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
    return keywords.keys.first { message.hasPrefix("invalid \($0) value") }
  }

  private init(keywords: [String: String], targets: [ConnectionTarget]) {
    self.keywords = keywords
    self.targets = targets
  }
}
