internal import CLibpq
internal import Glibc
internal import Reactors

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
  /// - Throws: ``PostgresError/Code/invalidConfiguration``. libpq's text may quote the password, so only the two texts that quote
  ///   an option's name are kept.
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

  /// The same parameters with another `target_session_attrs`.
  func asking(for attributes: String) -> ConnectionParameters {
    var parameters = self
    parameters.keywords["target_session_attrs"] = attributes
    return parameters
  }

  /// Calls `PQconnectStartParams` for one of the targets.
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
    var message: UnsafeMutablePointer<CChar>?
    defer { PQfreemem(message) }
    guard let options = PQconninfoParse(conninfo, &message) else {
      let text = message.map { String(cString: $0) } ?? ""
      let isHarmless = text.hasPrefix("invalid connection option") || text.hasPrefix("invalid URI query parameter")
      throw PostgresError(.invalidConfiguration, isHarmless ? text.filter { !$0.isNewline } : "")
    }
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
  ///
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
      ConnectionTarget(host: target.host, address: numericHost(of: address), port: target.port)
    }
  }

  /// The most addresses of one name. A name with more is a misconfiguration rather than a cluster.
  private static let addressesPerHostMax = 8

  /// `127.0.0.1:80` and `[::1]:80` without port and brackets.
  static func numericHost(of address: SocketAddress) -> String {
    String(address.description.dropLast(":\(address.port)".count).filter { $0 != "[" && $0 != "]" })
  }
}
