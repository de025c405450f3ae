internal import Cryptography
internal import FoundationEssentials
internal import Postgres
internal import PushRules
package import Reactors

// Texts as operators write them: addresses, secrets and lists.

extension SettingParser<String> {
  static var text: Self { Self { text throws(UnusableValue) in text } }

  /// A key or team identifier: Apple gives ten capital letters and digits.
  static var appleIdentifier: Self {
    Self { text throws(UnusableValue) in
      let isIdentifier = text.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) }
      guard isIdentifier, text.utf8.count == 10 else {
        throw UnusableValue("not an identifier from Apple", expected: "ten capital letters and digits")
      }
      return text
    }
  }

  /// The text of a `.p8` file. In a setting of one line, `\n` stands for the end of a line, as many tools write it.
  ///
  /// The value is the key in one form, however it was written: white space is no new key.
  static var privateKey: Self {
    Self { text throws(UnusableValue) in
      let pem = text.split(separator: #"\n"#, omittingEmptySubsequences: false).joined(separator: "\n")
      guard let key = try? P256PrivateKey(pem: pem) else {
        throw UnusableValue(
          "not a P-256 private key", expected: "the text of the .p8 file from Apple, BEGIN and END lines included")
      }
      return key.pem
    }
  }
}

extension SettingParser<BundleIdentifier> {
  static var bundleIdentifier: Self {
    Self { text throws(UnusableValue) in
      do throws(PushRequestError) {
        return try BundleIdentifier(text)
      } catch {
        throw UnusableValue(error.message, expected: "an identifier such as com.example.app")
      }
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
    Self { text throws(UnusableValue) in
      guard text.utf8.count >= 32 else {
        throw UnusableValue("too short", expected: "at least 32 bytes, as HS256 demands")
      }
      return Secret(text)
    }
  }

  static var keySetURL: Self {
    Self { text throws(UnusableValue) in
      guard URLComponents(ofWebAddress: text) != nil else {
        throw UnusableValue("not a web address", expected: "https://host/path of a JSON Web Key Set")
      }
      return Secret(text)
    }
  }

  static var modelURL: Self {
    Self { text throws(UnusableValue) in
      guard let parts = URLComponents(ofWebAddress: text), parts.query == nil, parts.fragment == nil else {
        throw UnusableValue("not a web address", expected: "https://host/path, without the path of the call")
      }
      return Secret(text)
    }
  }

  /// It becomes the value of a header field.
  static var fieldValue: Self {
    Self { text throws(UnusableValue) in
      guard text.wholeMatch(of: /[!-~]+( [!-~]+)*/) != nil else {
        throw UnusableValue("not words of visible ASCII characters", expected: "a value such as Bearer token")
      }
      return Secret(text)
    }
  }

  /// It becomes a header field.
  static var modelKey: Self {
    Self { text throws(UnusableValue) in
      guard text.isVisibleASCII else {
        throw UnusableValue("not visible ASCII characters", expected: "the provider's key")
      }
      return Secret(text)
    }
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

extension SettingParser<[Secret<String>]> {
  /// Bearer tokens separated by white space, which no bearer token can hold.
  static var bearerSecrets: Self {
    Self { text throws(UnusableValue) in
      var secrets: [Secret<String>] = []
      for part in text.split(whereSeparator: \.isWhitespace) {
        secrets.append(Secret(try BearerSecret.checked(String(part))))
        try BearerSecret.checkLength(part.utf8.count)
      }
      return secrets
    }
  }
}

extension SettingParser<[String]> {
  /// Separated by commas.
  static var audiences: Self {
    Self { text throws(UnusableValue) in
      let audiences = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.trimmed) }
      guard !audiences.contains("") else {
        throw UnusableValue("an audience is empty", expected: "audiences separated by commas")
      }
      return audiences
    }
  }
}

extension SettingParser<ShadowedKinds> {
  /// `true`, `false` as every switch, or kinds separated by commas.
  ///
  /// A single word that is nearly `true` or `false` is a typing error: taken for a kind it would let every other push go.
  static var shadowedKinds: Self {
    Self { text throws(UnusableValue) in
      if let isOn = try? SettingParser<Bool>.boolean(text) { return isOn ? .all : .none }
      let kinds = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.trimmed) }
      let isMistyped = kinds.count == 1 && ["true", "false"].contains { SettingNames.isNearly(text, $0) }
      guard kinds.allSatisfy(PushSubject.canBeKind), !isMistyped else {
        throw UnusableValue("neither yes, no nor kinds", expected: "true, false, or kinds separated by commas")
      }
      return .only(Set(kinds))
    }
  }
}

/// Peers that are trusted by where they connect from.
package struct TrustedPeers: Equatable, Sendable {
  /// Their networks; a single address is one too.
  package var networks: [IPNetwork] = []
  package var includesUnixSockets = false
}

extension SettingParser<TrustedPeers> {
  static var trustedPeers: Self {
    Self { text throws(UnusableValue) in
      let names = text.split { $0 == " " || $0 == "," }.map(String.init)
      let networks = names.filter { $0 != "unix" }.map { IPNetwork($0) }
      guard !names.isEmpty, !networks.contains(nil) else {
        throw UnusableValue(
          "not all addresses or networks",
          expected: "addresses, networks such as 10.0.0.0/8, or unix, separated by spaces")
      }
      return TrustedPeers(networks: networks.compactMap(\.self), includesUnixSockets: names.contains("unix"))
    }
  }
}

extension SettingParser<[String]> {
  /// Origins of web pages as browsers write them, separated by spaces or commas. Exact: no pattern, and no `null`, which any page
  /// can have.
  static var webOrigins: Self {
    Self { text throws(UnusableValue) in
      let origins = text.split { $0 == " " || $0 == "," }.map(String.init)
      let isGood = origins.allSatisfy { origin in
        guard let parts = URLComponents(string: origin, encodingInvalidCharacters: false), let scheme = parts.scheme,
          let host = parts.host, !host.isEmpty, !host.contains("*"), !["file", "data", "blob"].contains(scheme)
        else { return false }
        let port = parts.port.map { ":\($0)" } ?? ""
        let isUsual = scheme == "https" && parts.port == 443 || scheme == "http" && parts.port == 80
        return origin == "\(scheme)://\(host)\(port)" && origin == origin.lowercased() && !isUsual
      }
      guard !origins.isEmpty, isGood else {
        throw UnusableValue(
          "not all origins",
          expected: "origins as browsers write them, such as https://app.example.com, separated by spaces")
      }
      return origins
    }
  }
}
