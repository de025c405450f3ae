internal import Cryptography
internal import FoundationEssentials
internal import PushRules
internal import Reactors

/// A Google service account: the identity that exchanges a signed statement for access tokens.
///
/// Source: Google, "Using OAuth 2.0 for Server to Server Applications".
package struct ServiceAccount: Sendable {
  /// The largest file. Google's have 2.3 KiB, and one with the longest key 9 KiB.
  package static let fileBytesMax = 16 * 1024

  /// The only permission that is asked for.
  static let scope = "https://www.googleapis.com/auth/firebase.messaging"

  /// The longest life of an assertion that Google accepts, in seconds.
  private static let assertionSeconds: Int64 = 3600

  /// The account's name, an address such as `push@project.iam.gserviceaccount.com`.
  package let clientEmail: String

  package let keyIdentifier: String

  /// The identifier of the Firebase project: lower-case letters, digits, hyphens, dots and colons.
  package let projectIdentifier: String

  /// The token endpoint: `https`, or `http` on a loopback address.
  package let tokenURI: String

  private let key: RSAPrivateKey

  /// Reads the JSON file that Google's console makes. Unknown members are ignored.
  /// - Throws: ``ServiceAccountError`` that names the member. It holds no value of the file.
  package init(json: [UInt8]) throws(ServiceAccountError) {
    guard json.count <= Self.fileBytesMax else {
      throw ServiceAccountError(nil, "is larger than \(Self.fileBytesMax) bytes")
    }
    guard let file = PayloadObject(reading: json) else {
      throw ServiceAccountError(nil, "is not a JSON object")
    }
    if let type = file["type"], type.text != "service_account" {
      throw ServiceAccountError("type", "is not service_account")
    }
    clientEmail = try Self.member("client_email", of: file, bytesMax: 320) { byte in
      (0x21...0x7E).contains(byte)
    }
    keyIdentifier = try Self.member("private_key_id", of: file, bytesMax: 128) { Self.isWordByte($0) }
    projectIdentifier = try Self.member("project_id", of: file, bytesMax: 64) { byte in
      Self.isWordByte(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: ":")
    }
    guard let endpoint = EndpointURL(try Self.text("token_uri", of: file)) else {
      throw ServiceAccountError("token_uri", "is not an https URL")
    }
    tokenURI = endpoint.text
    key = try Self.key(try Self.text("private_key", of: file))
  }

  /// The statement that is exchanged for an access token: a JWT signed with RS256 (RFC 7519, RFC 7523 section 3).
  /// - Parameter seconds: the time of its issue, Unix seconds. It expires an hour later.
  func assertion(issuedAt seconds: Int64) throws(CryptographyError) -> String {
    let header = JSONBytes.document(reservingBytes: 128) { json in
      json.append(member: "alg", text: "RS256")
      json.append(member: "typ", text: "JWT")
      json.append(member: "kid", text: keyIdentifier)
    }
    let claims = JSONBytes.document(reservingBytes: 512) { json in
      json.append(member: "iss", text: clientEmail)
      json.append(member: "scope", text: Self.scope)
      json.append(member: "aud", text: tokenURI)
      json.append(member: "iat", integer: seconds)
      json.append(member: "exp", integer: seconds + Self.assertionSeconds)
    }
    return try SignedStatement.text(header: header, claims: claims) { (text) throws(CryptographyError) in
      try key.sign(text)
    }
  }
}

extension ServiceAccount {
  private static func key(_ pem: String) throws(ServiceAccountError) -> RSAPrivateKey {
    do throws(CryptographyError) {
      return try RSAPrivateKey(pem: pem)
    } catch {
      throw ServiceAccountError("private_key", error.message.isEmpty ? "is not an RSA key" : error.message)
    }
  }

  private static func text(
    _ name: String, of file: PayloadObject
  ) throws(ServiceAccountError) -> String {
    guard let member = file[name] else { throw ServiceAccountError(name, "is missing") }
    guard let text = member.text, !text.isEmpty else { throw ServiceAccountError(name, "is not a text") }
    return text
  }

  private static func member(
    _ name: String, of file: PayloadObject, bytesMax: Int, _ isAllowed: (UInt8) -> Bool
  ) throws(ServiceAccountError) -> String {
    let text = try text(name, of: file)
    guard text.utf8.count <= bytesMax else { throw ServiceAccountError(name, "is longer than \(bytesMax) bytes") }
    guard text.utf8.allSatisfy(isAllowed) else {
      throw ServiceAccountError(name, "has a character that is not allowed")
    }
    return text
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

/// Why a service account's file cannot be used. Holds no value of the file.
package struct ServiceAccountError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The member at fault; nil for the whole file.
  package let member: String?

  /// What is wrong with it, such as `is missing`.
  package let message: String

  init(_ member: String?, _ message: String) {
    self.member = member
    self.message = message
  }

  package var description: String { "\(member ?? "the service account's file") \(message)" }
}

/// An absolute URL that requests with credentials may go to: `https`, or `http` on this machine for tests.
///
/// Only the scheme and the host are judged. The transfer client parses the rest.
struct EndpointURL: Equatable, Sendable {
  /// Longer than any real endpoint, in bytes.
  private static let bytesMax = 2048

  let text: String

  /// - Returns: nil for another scheme, for plain HTTP to another machine, for user and password, and for white space,
  ///   control characters and characters outside ASCII.
  init?(_ text: String) {
    guard text.utf8.count <= Self.bytesMax, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    guard let scheme = text.firstRange(of: "://") else { return nil }
    let authority = text[scheme.upperBound...].prefix { !"/?#\\".contains($0) }
    guard !authority.isEmpty, !authority.contains("@") else { return nil }
    switch text[..<scheme.lowerBound].lowercased() {
    case "https": break
    case "http": guard Self.isLoopback(authority) else { return nil }
    default: return nil
    }
    self.text = text
  }

  private static func isLoopback(_ authority: Substring) -> Bool {
    if authority.hasPrefix("[") {
      return IPAddress(String(authority.dropFirst().prefix { $0 != "]" }))?.isLoopback ?? false
    }
    let host = String(authority.prefix { $0 != ":" })
    return host.lowercased() == "localhost" || IPAddress(host)?.isLoopback ?? false
  }
}
