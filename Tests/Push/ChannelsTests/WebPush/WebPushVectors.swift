import Cryptography
import Foundation
import Testing

@testable import Channels

/// Published and computed examples. All binary values are base64url.
struct WebPushVectors: Decodable {
  struct RFC8291: Decodable {
    let plaintext, as_private, ua_public, auth_secret, salt, body: String
  }

  struct RFC8292: Decodable {
    let t, k: String
  }

  struct Encryption: Decodable {
    let name: String
    let plaintext, body: String?
    let plaintext_octets, padding_octets, body_octets: Int
    let body_sha256: String
  }

  let rfc8291_appendix_a: RFC8291
  let rfc8292_2_4: RFC8292
  let computed_encryptions: [Encryption]

  static func load() throws -> WebPushVectors {
    let url = try #require(Bundle.module.url(forResource: "web-push-vectors", withExtension: "json"))
    return try JSONDecoder().decode(WebPushVectors.self, from: Data(contentsOf: url))
  }
}

func bytes(_ text: String) -> [UInt8] { Base64URL.decode(text.utf8)! }

extension WebPushKeys {
  /// The keys of a browser that a test plays.
  init(_ key: P256PrivateKey, secret: [UInt8]) throws {
    try self.init(p256dh: Base64URL.encode(key.publicKey.x963), auth: Base64URL.encode(secret))
  }
}
