package import Cryptography

/// Content encrypted for one device and one event.
///
///     0   1   version, 1
///     1   4   key identifier: the first bytes of SHA-256 over the device's public key
///     5  32   ephemeral public key (X25519, RFC 7748)
///    37   n   ciphertext of the padded content (AES-256-GCM)
///  37+n  16   tag
///
/// Key and nonce are 44 bytes of HKDF-SHA-256: the shared secret, salted with the ephemeral key and the device's key, for
/// ``purpose``. No ephemeral key is used twice, so no pair of key and nonce is. Authenticated with it are the head (bytes 0 to 36)
/// and the digest of ``SealedBinding``.
package enum SealedEnvelope {
  /// The first byte.
  static let version: UInt8 = 1

  /// What the derived key is for; names the version, so that another version has other keys.
  static let purpose = "tacet sealed content v1"

  /// Content is padded with spaces to one of these sizes, in bytes, so that its length says little.
  package static let paddedSizes = [256, 512, 1024, 2048]

  /// The bytes of head and tag.
  private static let overhead = 1 + SealingKey.identifierBytes + X25519PublicKey.byteCount + 16

  /// The characters of an envelope in base64url, of content of one of the sizes.
  package static func characters(ofPaddedSize size: Int) -> Int { ((size + overhead) * 4 + 2) / 3 }

  /// Encrypts content. Two operations on the curve take nearly all of its time, 25 µs each.
  /// - Parameters:
  ///   - content: a JSON document of at most the largest size. Traps for a longer one.
  ///   - ephemeral: another one each time, or content can be read by comparing envelopes.
  /// - Returns: the envelope in base64url without padding.
  /// - Throws: for a public key of low order.
  package static func seal(
    _ content: [UInt8], for key: SealingKey, boundTo binding: SealedBinding,
    from ephemeral: X25519PrivateKey = X25519PrivateKey()
  ) throws(CryptographyError) -> String {
    guard let size = paddedSizes.first(where: { $0 >= content.count }) else {
      preconditionFailure("content of \(content.count) bytes")
    }
    let padded = content + [UInt8](repeating: UInt8(ascii: " "), count: size - content.count)
    let head = [version] + key.identifier + ephemeral.publicKey.bytes
    let material = HKDFSHA256.derive(
      from: try ephemeral.sharedSecret(with: key.publicKey),
      salt: ephemeral.publicKey.bytes + key.publicKey.bytes, info: Array(purpose.utf8), byteCount: 44)
    let sealed = AESGCM(key: Array(material.prefix(32))).seal(
      padded, nonce: Array(material.suffix(12)), additionalData: head + binding.digest)
    return Base64URL.encode(head + sealed)
  }
}

/// What an envelope belongs to: it opens for nothing else.
package struct SealedBinding: Sendable {
  /// SHA-256 over channel, address, kind and id, each followed by a zero byte except the last. No text holds a zero byte.
  let digest: [UInt8]

  /// - Parameters:
  ///   - channel: that delivers it, such as `apns`.
  ///   - address: of the device at the channel, as it was registered; device tokens in lower case.
  ///   - kind: of the event, as the push names it in `type`.
  ///   - id: of the event's subject, as the push names it in `message_id` or `subject_id`.
  package init(channel: String, address: String, kind: String, id: String) {
    digest = SHA256.hash(Array([channel, address, kind, id].joined(separator: "\0").utf8)).bytes
  }
}

/// A device's public key, for which content is sealed.
package struct SealingKey: Equatable, Sendable {
  static let identifierBytes = 4

  package let publicKey: X25519PublicKey

  /// The first four bytes of its SHA-256, by which a device finds the private half.
  let identifier: [UInt8]

  package init(_ publicKey: X25519PublicKey) {
    self.publicKey = publicKey
    identifier = Array(SHA256.hash(publicKey.bytes).bytes.prefix(Self.identifierBytes))
  }

  /// Reads 32 bytes of base64url without padding; nil for another text.
  package init?(text: some StringProtocol) {
    guard text.utf8.count == 43, let bytes = Base64URL.decode(text.utf8), let key = try? X25519PublicKey(bytes) else {
      return nil
    }
    self.init(key)
  }

  /// Whether content can be sealed for it: not for the few keys of low order, whose secrets everybody knows.
  package var isUsable: Bool { (try? X25519PrivateKey().sharedSecret(with: publicKey)) != nil }
}

/// What is sealed of a push: `{"issued_at":…,"title":…,"subtitle":…,"body":…,"image_url":…,"data":{…}}`, without what is empty.
struct SealedWords {
  /// The end of a shortened body.
  private static let continuation = "…"

  /// When the push was made, milliseconds since 1970. A push that is sent again has a later one.
  let issuedAt: Int64
  let title: String?
  var subtitle: String?
  var body: String?
  let imageURL: String?
  /// The members that stay behind of the push's data.
  var data: PayloadObject

  init(of alert: AlertPayload, withheld data: PayloadObject, issuedAt: Int64) {
    self.issuedAt = issuedAt
    title = alert.title?.words.nonEmpty
    subtitle = alert.subtitle?.words.nonEmpty
    body = alert.body?.words.nonEmpty
    var data = data
    if case .string(let address)? = data["image_url"] { imageURL = address } else { imageURL = nil }
    data["image_url"] = nil
    self.data = data
  }

  /// The document, of at most so many bytes: the body is cut between grapheme clusters and ends in an ellipsis. Where that is not
  /// enough, the data is left out, and then the subtitle.
  /// - Returns: nil when the rest alone is too large.
  func encoded(bytesMax: Int) -> [UInt8]? {
    var words = self
    for cut in [{ _ in }, { $0.data = [:] }, { $0.subtitle = nil }] as [(inout SealedWords) -> Void] {
      cut(&words)
      if let document = words.fitted(to: bytesMax) { return document }
    }
    return nil
  }

  private func fitted(to bytesMax: Int) -> [UInt8]? {
    let whole = document
    guard whole.count > bytesMax else { return whole }
    guard let body else { return nil }
    let width = body.utf8.reduce(0) { $0 + JSONEscape.width(of: $1) }
    let room = width - (whole.count - bytesMax) - Self.continuation.utf8.count
    guard room >= 0 else { return nil }
    var shorter = self
    shorter.body = body.beginning(bytesMax: room, width: JSONEscape.width) + Self.continuation
    return shorter.document
  }

  private var document: [UInt8] {
    var document: PayloadObject = ["issued_at": .integer(issuedAt)]
    document["title"] = title.map { .string($0) }
    document["subtitle"] = subtitle.map { .string($0) }
    document["body"] = body.map { .string($0) }
    document["image_url"] = imageURL.map { .string($0) }
    if !data.members.isEmpty { document["data"] = .object(data) }
    return document.encoded()
  }
}

extension String {
  /// Nil for no words, as beside a key of the app's translations.
  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
