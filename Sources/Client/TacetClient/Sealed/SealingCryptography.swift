public import Foundation

/// The algorithms of sealed content. On Apple's systems ``SystemSealingCryptography``; elsewhere the app brings them.
public protocol SealingCryptography: Sendable {
  /// A new random private key of X25519, 32 bytes.
  func makePrivateKey() -> Data

  /// The public half, 32 bytes.
  func publicKey(of privateKey: Data) throws -> Data

  /// The secret that both sides have in common (RFC 7748 section 6.1), 32 bytes.
  func sharedSecret(_ privateKey: Data, with publicKey: Data) throws -> Data

  /// HKDF with SHA-256 (RFC 5869).
  func derive(from secret: Data, salt: Data, info: Data, byteCount: Int) -> Data

  /// SHA-256.
  func digest(_ content: Data) -> Data

  /// Decrypts AES-256-GCM.
  /// - Parameters:
  ///   - sealed: the ciphertext and the tag of 16 bytes.
  ///   - nonce: 12 bytes.
  /// - Throws: when anything differs.
  func open(_ sealed: Data, key: Data, nonce: Data, authenticating data: Data) throws -> Data
}

#if canImport(CryptoKit)
internal import CryptoKit

// Linux has no CryptoKit, so this is neither built nor tested there. It decides nothing.

/// The algorithms of the system.
public struct SystemSealingCryptography: SealingCryptography {
  /// CryptoKit.
  public init() {}

  /// A new random key.
  public func makePrivateKey() -> Data { Curve25519.KeyAgreement.PrivateKey().rawRepresentation }

  /// The public half.
  public func publicKey(of privateKey: Data) throws -> Data {
    try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: privateKey).publicKey.rawRepresentation
  }

  /// The common secret.
  public func sharedSecret(_ privateKey: Data, with publicKey: Data) throws -> Data {
    let secret = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: privateKey)
      .sharedSecretFromKeyAgreement(with: .init(rawRepresentation: publicKey))
    return secret.withUnsafeBytes { Data($0) }
  }

  /// HKDF.
  public func derive(from secret: Data, salt: Data, info: Data, byteCount: Int) -> Data {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret), salt: salt, info: info, outputByteCount: byteCount
    ).withUnsafeBytes { Data($0) }
  }

  /// SHA-256.
  public func digest(_ content: Data) -> Data { Data(SHA256.hash(data: content)) }

  /// AES-256-GCM.
  public func open(_ sealed: Data, key: Data, nonce: Data, authenticating data: Data) throws -> Data {
    let box = try AES.GCM.SealedBox(
      nonce: AES.GCM.Nonce(data: nonce), ciphertext: sealed.dropLast(16), tag: sealed.suffix(16))
    return try AES.GCM.open(box, using: SymmetricKey(data: key), authenticating: data)
  }
}
#endif
