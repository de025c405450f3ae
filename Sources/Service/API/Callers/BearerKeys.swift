internal import Cryptography
package import HTTPTypes

/// Secrets that a caller may send as a bearer token, compared in constant time. Several may be valid at once, so that they can
/// be rotated.
package struct BearerKeys: Sendable {
  private let digests: [SHA256Digest]

  package init(_ keys: [String]) {
    digests = keys.map { SHA256.hash(Array($0.utf8)) }
  }

  var isEmpty: Bool { digests.isEmpty }

  /// Whether this is one of them. Digests also hide the length, and all are compared, so that the time does not show
  /// which one matched.
  package func accepts(_ key: String) -> Bool {
    let shown = SHA256.hash(Array(key.utf8))
    return digests.reduce(false) { $1 == shown || $0 }
  }
}

extension HTTPFields {
  /// The text behind `Bearer` in Authorization; nil when it is empty.
  package var bearerToken: String? {
    guard let parts = self[.authorization]?.split(separator: " ", maxSplits: 1), parts.count == 2,
      parts[0].lowercased() == "bearer"
    else { return nil }
    return String(parts[1])
  }
}
