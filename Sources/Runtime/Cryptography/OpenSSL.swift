internal import COpenSSL

/// The algorithms of OpenSSL's default provider, and traps for calls that fail only without memory.
///
/// Each algorithm is fetched once: a fetch by name takes longer than a digest of 100 bytes.
enum OpenSSL {
  // Safe: a fetched algorithm never changes, and these are never freed.
  nonisolated(unsafe) static let sha1 = require(EVP_MD_fetch(nil, "SHA1", nil), "EVP_MD_fetch SHA1")
  // Safe for the same reason.
  nonisolated(unsafe) static let sha256 = require(EVP_MD_fetch(nil, "SHA256", nil), "EVP_MD_fetch SHA256")
  // Safe for the same reason.
  nonisolated(unsafe) static let hmac = require(EVP_MAC_fetch(nil, "HMAC", nil), "EVP_MAC_fetch HMAC")
  // Safe for the same reason.
  nonisolated(unsafe) static let aes128GCM = require(
    EVP_CIPHER_fetch(nil, "AES-128-GCM", nil), "EVP_CIPHER_fetch AES-128-GCM")
  // Safe for the same reason.
  nonisolated(unsafe) static let aes256GCM = require(
    EVP_CIPHER_fetch(nil, "AES-256-GCM", nil), "EVP_CIPHER_fetch AES-256-GCM")

  /// Traps unless the call returned an object.
  static func require(_ object: OpaquePointer?, _ call: StaticString) -> OpaquePointer {
    guard let object else { preconditionFailure("\(call): \(ErrorQueue.drain().text)") }
    return object
  }

  /// Traps unless the call returned 1.
  static func require(_ status: Int32, _ call: StaticString) {
    guard status == 1 else { preconditionFailure("\(call): \(ErrorQueue.drain().text)") }
  }
}
