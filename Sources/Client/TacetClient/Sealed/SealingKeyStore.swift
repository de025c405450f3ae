public import Foundation

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
