package import Cryptography

/// Makes the tokens of browsers' service workers, and knows its own without the database: 16 random bytes and the first 16 of
/// their code under a webhook secret, in base64url. So a stranger's token costs one digest, and not a session of the database.
///
/// Which subscription a token belongs to is in the database. After the secret that made it is gone, the page registers anew.
package struct WorkerTokens: Sendable {
  private static let halfBytes = 16

  private let keys: [HMACSHA256]

  /// - Parameter keys: the first makes tokens, all of them accept some.
  package init(_ keys: [HMACSHA256]) {
    self.keys = keys.isEmpty ? [HMACSHA256(key: Self.random(32))] : keys
  }

  package func make() -> String {
    let nonce = Self.random(Self.halfBytes)
    return Base64URL.encode(nonce + code(of: nonce, keys[0]).prefix(Self.halfBytes))
  }

  package func accepts(_ token: String) -> Bool {
    // 32 bytes, without padding.
    guard token.utf8.count == 43, let bytes = Base64URL.decode(token.utf8), bytes.count == 2 * Self.halfBytes else {
      return false
    }
    let nonce = Array(bytes.prefix(Self.halfBytes))
    return keys.contains { key in
      // In constant time, so that answers do not tell how much of a guess was right.
      zip(code(of: nonce, key), bytes.dropFirst(Self.halfBytes)).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
  }

  private func code(of nonce: [UInt8], _ key: HMACSHA256) -> ArraySlice<UInt8> {
    // No webhook begins with this: its id has no space.
    key.code(for: Array("worker token ".utf8) + nonce).bytes.prefix(Self.halfBytes)
  }

  private static func random(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
