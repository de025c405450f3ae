import Cryptography
import TestKeys
import Testing

@Suite("Keys on several threads")
struct KeyHandleTests {
  @Test("eight tasks sign, verify and derive with one key at once")
  func elliptic() async throws {
    let (key, peer) = (P256PrivateKey(), P256PrivateKey())
    let secret = try key.sharedSecret(with: peer.publicKey)
    let failures = try await failures { task, round in
      let message = ascii("task \(task), round \(round)")
      let signature = try key.sign(message)
      let isAgreed = try peer.sharedSecret(with: key.publicKey) == secret
      return isAgreed && key.publicKey.verifies(signature, of: message)
        && !peer.publicKey.verifies(signature, of: message)
    }
    #expect(failures == 0)
  }

  @Test("eight tasks verify with one RSA key, and compute codes with one HMAC key, at once")
  func others() async throws {
    let own = RSATestKey(bits: 2048)
    let key = try RSAPublicKey(modulus: own.modulus, exponent: own.exponent)
    let hmac = HMACSHA256(key: ascii("key"))
    let failures = try await failures { task, round in
      let message = ascii("task \(task), round \(round)")
      return key.verifies(own.sign(message), of: message) && !key.verifies(own.sign(message), of: message + [0])
        && hmac.code(for: message) == HMACSHA256(key: ascii("key")).code(for: message)
    }
    #expect(failures == 0)
  }

  @Test("a public key works after its private key is gone")
  func lifetime() throws {
    var key: P256PrivateKey? = P256PrivateKey()
    let signature = try #require(try key?.sign([1]))
    let publicKey = try #require(key?.publicKey)
    key = nil
    #expect(publicKey.verifies(signature, of: [1]))
  }

  private func failures(_ isRight: @escaping @Sendable (Int, Int) throws -> Bool) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask { @concurrent in
          try (0..<50).count { round in try !isRight(task, round) }
        }
      }
      return try await group.reduce(0, +)
    }
  }
}
