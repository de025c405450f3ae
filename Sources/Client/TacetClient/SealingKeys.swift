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

/// Keeps the private keys of a device, for the app and its notification service extension. ``KeychainKeyStore`` conforms.
public protocol SealingKeyStore: Sendable {
  /// The keys, 32 bytes each, the newest first; empty without any.
  /// - Throws: when they cannot be read now, such as before the first unlock. No key is made then.
  func load() throws -> Data

  /// Replaces the keys.
  func save(_ keys: Data) throws
}

#if canImport(Security)
internal import Security

// Linux has no keychain, so this is neither built nor tested there.

/// Keys in the keychain of this device alone, readable after its first unlock.
public struct KeychainKeyStore: SealingKeyStore {
  /// A status of the keychain.
  public struct Failure: Error {
    /// As `SecItem` functions return it.
    public let status: Int32
  }

  private let accessGroup: String?

  /// - Parameter accessGroup: that the app shares with its extension.
  public init(accessGroup: String?) { self.accessGroup = accessGroup }

  private var query: [CFString: Any] {
    var query: [CFString: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrService: "Tacet", kSecAttrAccount: "sealing-keys",
      kSecUseDataProtectionKeychain: true,
    ]
    query[kSecAttrAccessGroup] = accessGroup
    return query
  }

  /// Reads the item.
  public func load() throws -> Data {
    var found: CFTypeRef?
    let wanted = query.merging([kSecReturnData: true]) { $1 }
    let status = SecItemCopyMatching(wanted as CFDictionary, &found)
    if status == errSecItemNotFound { return Data() }
    guard status == errSecSuccess, let keys = found as? Data else { throw Failure(status: status) }
    return keys
  }

  /// Updates the item, or adds it.
  public func save(_ keys: Data) throws {
    let content: [CFString: Any] = [
      kSecValueData: keys, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
    ]
    var status = SecItemUpdate(query as CFDictionary, content as CFDictionary)
    if status == errSecItemNotFound { status = SecItemAdd(query.merging(content) { $1 } as CFDictionary, nil) }
    guard status == errSecSuccess else { throw Failure(status: status) }
  }
}
#endif
