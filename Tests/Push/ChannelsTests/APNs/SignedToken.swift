import Cryptography
import FoundationEssentials
import Reactors

@testable import Channels

/// A provider token taken apart.
struct SignedToken {
  struct Header: Decodable, Equatable {
    let alg: String
    let kid: String
  }

  let header: [String: String]
  let claims: [String: Claim]
  private let signed: String
  private let signature: Data

  /// A claim is a text or a whole number.
  enum Claim: Decodable, Equatable {
    case text(String)
    case number(Int64)

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let number = try? container.decode(Int64.self) {
        self = .number(number)
      } else {
        self = .text(try container.decode(String.self))
      }
    }
  }

  init(_ text: String) throws {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3 else { throw TestFailure("\(parts.count) parts") }
    header = try JSONDecoder().decode([String: String].self, from: try Self.decode(parts[0]))
    claims = try JSONDecoder().decode([String: Claim].self, from: try Self.decode(parts[1]))
    signed = parts[0] + "." + parts[1]
    signature = try Self.decode(parts[2])
  }

  func isSigned(by key: P256PublicKey) -> Bool {
    ES256Signature(raw: Array(signature)).map { key.verifies($0, of: Array(signed.utf8)) } ?? false
  }

  /// Base64url without padding (RFC 7515, appendix C).
  private static func decode(_ text: String) throws -> Data {
    guard !text.contains("=") else { throw TestFailure("padded") }
    var text = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }.map(String.init).joined()
    while !text.utf8.count.isMultiple(of: 4) { text += "=" }
    guard let data = Data(base64Encoded: text) else { throw TestFailure("not base64url") }
    return data
  }
}

extension ProviderCredentials {
  /// Credentials with a key of this process.
  static func make(_ key: P256PrivateKey = P256PrivateKey()) throws -> ProviderCredentials {
    try ProviderCredentials(
      keyIdentifier: "ABC123DEFG", teamIdentifier: "DEF123GHIJ", privateKey: key.pem)
  }
}

extension ProviderToken {
  /// `bearer old`, made so many seconds ago by a clock that was set since.
  static func aged(_ seconds: Int64, clockSetBy step: Int64 = 0) -> ProviderToken {
    ProviderToken(
      authorization: "bearer old", mintedAt: Reactor.now &- UInt64(seconds) * 1_000_000_000,
      issuedAt: ClockDifference.wallSeconds - seconds - step)
  }
}

extension ProviderTokenSource {
  /// A source with a key of this process and a token that exists.
  static func holding(_ token: ProviderToken) throws -> ProviderTokenSource {
    ProviderTokenSource(try .make(), schedule: ProviderTokenSchedule(draw: 0.5), current: token)
  }
}

/// Something a test waited for did not come.
struct TestFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
