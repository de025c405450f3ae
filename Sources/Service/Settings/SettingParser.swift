internal import Channels
internal import Cryptography
internal import FoundationEssentials
internal import HTTP1
internal import Postgres
internal import PushRules
internal import Reactors

struct SettingParser<Value>: Sendable {
  private let parse: @Sendable (String) throws(UnusableValue) -> Value

  init(_ parse: @escaping @Sendable (String) throws(UnusableValue) -> Value) { self.parse = parse }

  /// - Parameter text: not empty, without white space around it.
  func callAsFunction(_ text: String) throws(UnusableValue) -> Value { try parse(text) }

  /// A parser with one fault, which is where there is no value.
  init(_ fault: String, expected expectation: String, _ value: @escaping @Sendable (String) -> Value?) {
    self.init { text throws(UnusableValue) in
      guard let value = value(text) else { throw UnusableValue(fault, expected: expectation) }
      return value
    }
  }

  /// A parser whose fault is the message of an error.
  init<Failure: FaultMessage>(
    expected expectation: String, _ value: @escaping @Sendable (String) throws(Failure) -> Value
  ) {
    self.init { text throws(UnusableValue) in
      do throws(Failure) {
        return try value(text)
      } catch {
        throw UnusableValue(error.message, expected: expectation)
      }
    }
  }

  func map<Other>(_ change: @escaping @Sendable (Value) -> Other) -> SettingParser<Other> {
    SettingParser<Other> { [parse] text throws(UnusableValue) in change(try parse(text)) }
  }
}

/// Why the text of a setting gives no value. Says nothing of the text itself, since it may be secret.
struct UnusableValue: Error, Equatable {
  /// What is wrong, as the end of a sentence that begins with the key.
  let fault: String
  let expectation: String

  init(_ fault: String, expected expectation: String) {
    self.fault = fault
    self.expectation = expectation
  }
}

/// An error whose message can be read after "is not usable:".
protocol FaultMessage: Error {
  var message: String { get }
}

extension PushRequestError: FaultMessage {}
extension WebPushError: FaultMessage {}

// Numbers, switches and choices as operators write them. Both ends of a range are included.

extension SettingParser<Int> {
  static func integer(in range: ClosedRange<Int>) -> Self {
    number("a whole number", range, "a whole number from \(range.lowerBound) to \(range.upperBound)") { Int($0) }
  }

  /// Dollars, as millionths of them; a fraction of up to six digits is allowed.
  static func microdollars(dollarsMax: Int) -> Self {
    let expectation = "dollars from 0 to \(dollarsMax), with at most six digits after the point"
    return number("an amount of money", 0...dollarsMax * 1_000_000, expectation) { millionths($0, digitsMax: 6) }
  }

  fileprivate static func number(
    _ noun: String, _ range: ClosedRange<Int>, _ expectation: String, _ read: @escaping @Sendable (String) -> Int?
  ) -> Self {
    Self { text throws(UnusableValue) in
      guard let number = read(text) else { throw UnusableValue("not \(noun)", expected: expectation) }
      guard range.contains(number) else { throw UnusableValue("out of range", expected: expectation) }
      return number
    }
  }

  /// A time of the day as `HH:MM`, in minutes after midnight.
  static var timeOfDay: Self {
    Self("not a time of the day", expected: "hours and minutes from 00:00 to 23:59") { text in
      let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hours = digits(parts[0]),
        let minutes = digits(parts[1]), hours < 24, minutes < 60
      else { return nil }
      return hours * 60 + minutes
    }
  }
}

extension SettingParser<Double> {
  /// Dollars; a fraction of up to six digits is allowed.
  static func dollars(max: Int) -> Self {
    SettingParser<Int>.microdollars(dollarsMax: max).map { Double($0) / 1_000_000 }
  }
}

extension SettingParser<Duration> {
  /// Seconds; a fraction of up to three digits is allowed.
  static func seconds(in range: ClosedRange<Int>) -> Self {
    let expectation =
      "seconds from \(range.lowerBound) to \(range.upperBound), with at most three digits after the point"
    let microseconds = range.lowerBound * 1_000_000...range.upperBound * 1_000_000
    return SettingParser<Int>.number("a number of seconds", microseconds, expectation) { millionths($0, digitsMax: 3) }
      .map { .microseconds($0) }
  }

  static func wholeSeconds(in range: ClosedRange<Int>) -> Self {
    SettingParser<Int>.integer(in: range).map { .seconds($0) }
  }

  /// Milliseconds without a fraction.
  static func milliseconds(in range: ClosedRange<Int>) -> Self {
    SettingParser<Int>.integer(in: range).map { .milliseconds($0) }
  }
}

extension SettingParser<Bool> {
  /// `true` or `false`, also as yes and no, on and off, 1 and 0, in any case.
  static var boolean: Self {
    Self("neither yes nor no", expected: "true or false") { text in
      switch text.lowercased() {
      case "true", "yes", "on", "1": true
      case "false", "no", "off", "0": false
      default: nil
      }
    }
  }
}

extension SettingParser where Value: RawRepresentable<String> & CaseIterable & Sendable {
  /// One of the raw values of an enumeration, in any case.
  static var choice: Self {
    let choices = Value.allCases.map(\.rawValue).joined(separator: ", ")
    return Self("not a known choice", expected: choices) { text in
      Value.allCases.first { $0.rawValue == text.lowercased() }
    }
  }
}

extension SettingParser<UInt32> {
  /// Octal digits up to 777, perhaps after zeros, as `chmod` takes them.
  static var fileMode: Self {
    Self("no file mode", expected: "octal permissions such as 0660") { text in
      guard text.utf8.allSatisfy({ (0x30...0x37).contains($0) }), let mode = UInt32(text, radix: 8), mode <= 0o777
      else { return nil }
      return mode
    }
  }
}

/// A decimal number in millionths; nil for anything but up to nine digits and, behind a point, one to so many more.
private func millionths(_ text: String, digitsMax: Int) -> Int? {
  let parts = text.split(separator: ".", omittingEmptySubsequences: false)
  guard parts.count <= 2, parts[0].utf8.count <= 9, let whole = digits(parts[0]) else { return nil }
  guard parts.count == 2 else { return whole * 1_000_000 }
  guard parts[1].utf8.count <= digitsMax, let fraction = digits(parts[1]) else { return nil }
  return (parts[1].utf8.count..<6).reduce(fraction) { number, _ in number * 10 } + whole * 1_000_000
}

private func digits(_ text: Substring) -> Int? {
  text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
}

extension StringProtocol where SubSequence == Substring {
  package var trimmed: Substring {
    var rest = drop(while: \.isWhitespace)
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    return rest
  }
}

// Texts as operators write them: addresses, secrets and lists.

extension SettingParser<String> {
  static var text: Self { Self { text throws(UnusableValue) in text } }

  /// A key or team identifier: Apple gives ten capital letters and digits.
  static var appleIdentifier: Self {
    Self("not an identifier from Apple", expected: "ten capital letters and digits") { text in
      let isIdentifier = text.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) }
      return isIdentifier && text.utf8.count == 10 ? text : nil
    }
  }

  /// A P-256 key as PEM text. In a setting of one line, `\n` stands for the end of a line, as many tools write it.
  ///
  /// The value is the key in one form, however it was written: white space is no new key.
  private static func privateKey(expected expectation: String) -> Self {
    Self("not a P-256 private key", expected: expectation) { text in
      let pem = text.split(separator: #"\n"#, omittingEmptySubsequences: false).joined(separator: "\n")
      return try? P256PrivateKey(pem: pem).pem
    }
  }

  /// The text of a `.p8` file.
  static var privateKey: Self {
    privateKey(expected: "the text of the .p8 file from Apple, BEGIN and END lines included")
  }

  static var vapidKey: Self { privateKey(expected: "PEM text, such as that of tacet vapid-key") }
}

extension SettingParser<BundleIdentifier> {
  static var bundleIdentifier: Self {
    Self(expected: "an identifier such as com.example.app") { text throws(PushRequestError) in
      try BundleIdentifier(text)
    }
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
