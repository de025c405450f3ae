import Cryptography
import TestKeys
import TestLogs

@testable import API

/// Makes tokens of any shape, also such as no issuer would.
struct TokenForge {
  /// Computes a signature.
  typealias Signer = ([UInt8]) throws -> [UInt8]

  static let user = "3e1c2f60-8e0f-4f0a-b1a5-0d3a4b5c6d7e"
  static let secret = "a secret of at least thirty-two bytes"

  /// The time at which the forge's tokens hold, in Unix seconds.
  static let now = 1_800_000_000.0

  /// Claims as Supabase Auth issues them.
  static func claims(
    sub: String? = user, aud: String? = #""authenticated""#, exp: String? = "1800003600", nbf: String? = nil,
    iss: String? = "https://id.example/auth/v1"
  ) -> String {
    var members = [#""role":"authenticated""#, #""iat":1800000000"#]
    if let sub { members.append(#""sub":"\#(sub)""#) }
    if let aud { members.append(#""aud":\#(aud)"#) }
    if let exp { members.append(#""exp":\#(exp)"#) }
    if let nbf { members.append(#""nbf":\#(nbf)"#) }
    if let iss { members.append(#""iss":"\#(iss)""#) }
    return "{\(members.joined(separator: ","))}"
  }

  static func token(_ header: String, _ claims: String = claims(), signer: Signer) throws -> String {
    let signed = text(Array(header.utf8)) + "." + text(Array(claims.utf8))
    let token = signed + "." + text(try signer(Array(signed.utf8)))
    RunLogs.note(token, as: .clientToken)
    return token
  }

  /// A token of the shared secret.
  static func hs256(_ claims: String = claims(), header: String = #"{"alg":"HS256","typ":"JWT"}"#) throws -> String {
    try token(header, claims, signer: hmac(secret.utf8))
  }

  static func hmac(_ key: some Sequence<UInt8>) -> Signer {
    { HMACSHA256(key: Array(key)).code(for: $0).bytes }
  }

  static func text(_ bytes: some Collection<UInt8>) -> String { Base64URL.encode(bytes) }
}

/// An ES256 key of an issuer.
struct IssuerKey {
  let kid: String
  let key = P256PrivateKey()

  init(_ kid: String) { self.kid = kid }

  func token(_ claims: String = TokenForge.claims(), header: String? = nil) throws -> String {
    try TokenForge.token(header ?? #"{"alg":"ES256","kid":"\#(kid)","typ":"JWT"}"#, claims) {
      try key.sign($0).raw
    }
  }

  /// A header with a key to be used, which nobody should.
  var bringingItself: String { #"{"alg":"ES256","kid":"\#(kid)","jwk":\#(published())}"# }

  /// A header with an extension that has to be understood.
  var critical: String { #"{"alg":"ES256","kid":"\#(kid)","crit":["exp"]}"# }

  /// The public key as it is published; members can be put into the place of others, and "" takes one out.
  func published(_ changes: [String: String] = [:]) -> String {
    let point = key.publicKey.x963.dropFirst()
    let members = [
      "kty": #""EC""#, "crv": #""P-256""#, "kid": #""\#(kid)""#, "use": #""sig""#, "alg": #""ES256""#,
      "x": #""\#(TokenForge.text(point.prefix(32)))""#, "y": #""\#(TokenForge.text(point.suffix(32)))""#,
    ]
    return json(members, changes)
  }
}

/// An RS256 key of an issuer; making one takes a while, so there is one.
struct RSAIssuerKey: Sendable {
  static let shared = RSAIssuerKey(kid: "rsa-1")

  let kid: String
  let key = RSATestKey(bits: 2048)

  func token(_ claims: String = TokenForge.claims(), header: String? = nil) throws -> String {
    try TokenForge.token(header ?? #"{"alg":"RS256","kid":"\#(kid)","typ":"JWT"}"#, claims) {
      key.sign($0)
    }
  }

  func published(_ changes: [String: String] = [:]) -> String {
    let members = [
      "kty": #""RSA""#, "kid": #""\#(kid)""#, "use": #""sig""#, "alg": #""RS256""#,
      "n": #""\#(TokenForge.text(key.modulus))""#,
      "e": #""\#(TokenForge.text(key.exponent))""#,
    ]
    return json(members, changes)
  }
}

/// A key set of these keys.
func keySet(_ keys: String...) -> String { #"{"keys":[\#(keys.joined(separator: ","))]}"# }

private func json(_ members: [String: String], _ changes: [String: String]) -> String {
  let members = members.merging(changes) { $1 }.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
  return "{" + members.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",") + "}"
}
