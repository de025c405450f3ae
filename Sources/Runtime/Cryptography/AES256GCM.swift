/// Authenticated encryption with AES-256 in Galois/Counter Mode (NIST SP 800-38D).
///
/// As ``AES128GCM``, with a longer key.
package struct AES256GCM: Sendable {
  private let mode: GaloisCounterMode

  /// Traps unless the key has 32 bytes.
  package init(key: [UInt8]) {
    precondition(key.count == 32, "AES-256 key of \(key.count) bytes")
    mode = GaloisCounterMode(key)
  }

  /// Encrypts a plaintext, which may be empty. Traps unless the nonce has 12 bytes.
  /// - Parameter additionalData: authenticated with the plaintext, not part of the result.
  /// - Returns: the ciphertext, as long as the plaintext, and the tag of 16 bytes.
  package func seal(_ plaintext: [UInt8], nonce: [UInt8], additionalData: [UInt8] = []) -> [UInt8] {
    mode.seal(plaintext, nonce: nonce, additionalData: additionalData)
  }

  /// Decrypts what ``seal(_:nonce:additionalData:)`` returned. Traps unless the nonce has 12 bytes.
  /// - Returns: the plaintext, or nil when anything differs: key, nonce, additional data, ciphertext or tag. Input shorter
  ///   than a tag also returns nil.
  package func open(_ sealed: [UInt8], nonce: [UInt8], additionalData: [UInt8] = []) -> [UInt8]? {
    mode.open(sealed, nonce: nonce, additionalData: additionalData)
  }
}
