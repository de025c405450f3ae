internal import Cryptography
internal import FoundationEssentials
internal import HTTP1
internal import Postgres
internal import PushRules
internal import Reactors

// Texts as operators write them: addresses, secrets and lists.

extension SettingParser<String> {
  /// A key or team identifier: Apple gives ten capital letters and digits.
  static var appleIdentifier: Self {
    Self("not an identifier from Apple", expected: "ten capital letters and digits") { text in
      let isIdentifier = text.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) }
      return isIdentifier && text.utf8.count == 10 ? text : nil
    }
  }

  /// The text of a `.p8` file.
  static var privateKey: Self {
    privateKey(expected: "the text of the .p8 file from Apple, BEGIN and END lines included")
  }
}

extension SettingParser<Secret<String>> {
  /// What libpq can use, by its own parser.
  static var connectionString: Self {
    Self { text throws(UnusableValue) in
      let isURI = text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
      guard isURI || (!text.contains("://") && text.contains("=")) else {
        throw UnusableValue(
          "not a connection string", expected: "postgresql://user@host/database or keyword=value pairs")
      }
      if let fault = PostgresConfiguration.fault(of: text) {
        throw UnusableValue(
          fault,
          expected: """
            parameters of libpq alone (no pgbouncer=true, no sslmode=no-verify), and in the user and password of a URI \
            %40 for @, %2F for /, %25 for %
            """)
      }
      return Secret(text)
    }
  }

  /// RFC 7518 §3.2: a key for HS256 has at least the 32 bytes of its hash. A shorter one can be guessed from any
  /// client's token.
  static var signingSecret: Self {
    Self("too short", expected: "at least 32 bytes, as HS256 demands") { $0.utf8.count < 32 ? nil : Secret($0) }
  }

  static var keySetURL: Self {
    Self("not a web address", expected: "https://host/path of a JSON Web Key Set") { text in
      URLComponents(ofWebAddress: text).map { _ in Secret(text) }
    }
  }

  static var modelURL: Self {
    Self("not a web address", expected: "https://host/path, without the path of the call") { text in
      guard let parts = URLComponents(ofWebAddress: text), parts.query == nil, parts.fragment == nil else { return nil }
      return Secret(text)
    }
  }

  /// The host's webhook.
  static var eventsURL: Self {
    Self("not an address for events", expected: "https://host/path, or http on this machine") { text in
      let parts = URLComponents(string: text, encodingInvalidCharacters: false)
      let host = parts?.host ?? ""
      let isLocal = ["127.0.0.1", "[::1]", "::1", "localhost"].contains(host)
      guard !host.isEmpty, parts?.fragment == nil, parts?.scheme == "https" || parts?.scheme == "http" && isLocal else {
        return nil
      }
      return Secret(text)
    }
  }

  /// It becomes the value of a header field.
  static var fieldValue: Self {
    Self("not words of visible ASCII characters", expected: "a value such as Bearer token") { text in
      text.wholeMatch(of: /[!-~]+( [!-~]+)*/).map { _ in Secret(text) }
    }
  }

  /// It becomes a header field.
  static var modelKey: Self {
    Self("not visible ASCII characters", expected: "the provider's key") { $0.isVisibleASCII ? Secret($0) : nil }
  }
}

extension URLComponents {
  /// Nil unless it has a host and is over `https` or `http`.
  fileprivate init?(ofWebAddress text: String) {
    self.init(string: text, encodingInvalidCharacters: false)
    guard let scheme = scheme?.lowercased(), ["http", "https"].contains(scheme), host?.isEmpty == false else {
      return nil
    }
  }
}

extension SettingParser<[String]> {
  /// Separated by commas.
  static var audiences: Self {
    Self("an audience is empty", expected: "audiences separated by commas") { text in
      let audiences = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.trimmed) }
      return audiences.contains("") ? nil : audiences
    }
  }
}

extension SettingParser<Set<String>> {
  /// Origins of web pages as browsers write them, separated by spaces or commas. Exact: no pattern, and no `null`, which any page
  /// can have.
  static var webOrigins: Self {
    let expectation = "origins as browsers write them, such as https://app.example.com, separated by spaces"
    return Self("not all origins", expected: expectation) { text in
      let origins = text.split { $0 == " " || $0 == "," }.map(String.init)
      return origins.isEmpty || !origins.allSatisfy(isWebOrigin) ? nil : Set(origins)
    }
  }

  private static func isWebOrigin(_ origin: String) -> Bool {
    guard let parts = URLComponents(string: origin, encodingInvalidCharacters: false), let scheme = parts.scheme,
      let host = parts.host, !host.isEmpty, !host.contains("*"), !["file", "data", "blob"].contains(scheme)
    else { return false }
    let port = parts.port.map { ":\($0)" } ?? ""
    let isUsual = scheme == "https" && parts.port == 443 || scheme == "http" && parts.port == 80
    return origin == "\(scheme)://\(host)\(port)" && origin == origin.lowercased() && !isUsual
  }
}

extension SettingParser<ShadowedKinds> {
  /// `true`, `false` as every switch, or kinds separated by commas.
  ///
  /// A single word that is nearly `true` or `false` is a typing error: taken for a kind it would let every other push go.
  static var shadowedKinds: Self {
    Self("neither yes, no nor kinds", expected: "true, false, or kinds separated by commas") { text in
      if let isOn = try? SettingParser<Bool>.boolean(text) { return isOn ? .all : ShadowedKinds.none }
      let kinds = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.trimmed) }
      let isMistyped = kinds.count == 1 && ["true", "false"].contains { SettingNames.isNearly(text, $0) }
      return kinds.allSatisfy(PushSubject.canBeKind) && !isMistyped ? .only(Set(kinds)) : nil
    }
  }
}

/// Peers that are trusted by where they connect from.
struct TrustedPeers: Equatable, Sendable {
  /// Their networks; a single address is one too.
  var networks: [IPNetwork] = []
  var includesUnixSockets = false
}

extension TrustedProxies {
  var peers: TrustedPeers {
    get { TrustedPeers(networks: networks, includesUnixSockets: includesUnixSockets) }
    set { (networks, includesUnixSockets) = (newValue.networks, newValue.includesUnixSockets) }
  }
}

extension SettingParser<TrustedPeers> {
  static var trustedPeers: Self {
    let expectation = "addresses, networks such as 10.0.0.0/8, or unix, separated by spaces"
    return Self("not all addresses or networks", expected: expectation) { text in
      let names = text.split { $0 == " " || $0 == "," }.map(String.init)
      let networks = names.filter { $0 != "unix" }.map { IPNetwork($0) }
      guard !names.isEmpty, !networks.contains(nil) else { return nil }
      return TrustedPeers(networks: networks.compactMap(\.self), includesUnixSockets: names.contains("unix"))
    }
  }
}
