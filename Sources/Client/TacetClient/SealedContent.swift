public import Foundation

/// What a sealed push says.
public struct SealedContent: Hashable, Sendable {
  /// When the service made the push.
  public let issuedAt: Date
  /// The first line.
  public let title: String?
  /// The line below the title.
  public let subtitle: String?
  /// The text.
  public let body: String?
  /// The address of an image.
  public let imageURL: String?
  /// Further members of the push's data: a JSON object; nil for none.
  let data: Data?

  /// Reads the decrypted document. A member of another type counts as absent.
  init?(_ document: Data) {
    guard let members = try? JSONSerialization.jsonObject(with: document) as? [String: Any],
      let milliseconds = members["issued_at"] as? Int64
    else { return nil }
    issuedAt = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    title = members["title"] as? String
    subtitle = members["subtitle"] as? String
    body = members["body"] as? String
    imageURL = members["image_url"] as? String
    data = (members["data"] as? [String: Any]).flatMap { try? JSONSerialization.data(withJSONObject: $0) }
  }

  /// The push's data as it would be without sealing, for ``PushContent``.
  public func userInfo(completing userInfo: [AnyHashable: Any]) -> [AnyHashable: Any] {
    var all = userInfo
    all["sealed"] = nil
    let more = data.flatMap { try? JSONSerialization.jsonObject(with: $0) as? [String: Any] } ?? [:]
    for (name, value) in more where all[name] == nil { all[name] = value }
    if let imageURL { all["image_url"] = imageURL }
    return all
  }
}

/// Why a sealed push is not opened. It then shows what came with it.
public enum SealedContentError: Error, Hashable, Sendable {
  /// The envelope has another form.
  case malformed
  /// The service has sealed it in a way that this version does not know.
  case unknownVersion
  /// It was sealed for a key that this device does not have.
  case unknownKey
  /// It was changed, or belongs to another device or event.
  case notAuthentic
  /// It has been opened before.
  case alreadyOpened
  /// It is older than ``ContentSeal/lifetime``.
  case tooOld
}

/// Keeps a device's keys, and opens sealed pushes in the notification service extension.
///
///     // In the app, at each registration:
///     device.sealingKey = try seal.registrationKey(for: deviceToken)
///
/// `deploy/lib/demo/sealed.mjs` opens an envelope byte by byte.
public struct ContentSeal: Sendable {
  /// A private key has 32 bytes, and so has a public one.
  static let keyBytes = 32
  /// The bytes before the ciphertext: version, key identifier, ephemeral key.
  static let headBytes = 37

  private let keys: any SealingKeyStore
  private let store: any ClientStore
  private let cryptography: any SealingCryptography
  private let now: @Sendable () -> Date
  /// The oldest push that is opened.
  public let lifetime: TimeInterval

  /// - Parameters:
  ///   - store: of a folder of the app group, because app and extension share it.
  ///   - lifetime: seconds; longer than `MESSAGE_TTL_SECONDS` of the service.
  public init(
    keys: any SealingKeyStore, store: any ClientStore, cryptography: any SealingCryptography,
    lifetime: TimeInterval = 7 * 86_400, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.keys = keys
    self.store = store
    self.cryptography = cryptography
    self.lifetime = lifetime
    self.now = now
  }

  /// The public key for ``DeviceRegistration/sealingKey``. The first call makes a key. The device token is kept, because pushes are
  /// bound to it.
  /// - Parameter rotates: whether to replace the key. Pushes for the one before it still open.
  /// - Throws: when keys or token could not be stored; register without a key then.
  public func registrationKey(for deviceToken: Data, rotates: Bool = false) throws -> String {
    var known = try privateKeys()
    if rotates || known.isEmpty {
      known = Array(([cryptography.makePrivateKey()] + known).prefix(2))
      try keys.save(Data(known.joined()))
    }
    let address = DeviceRegistration.text(of: deviceToken)
    let addresses = Array(([address] + addresses.filter { $0 != address }).prefix(2))
    try store.save(JSONEncoder().encode(addresses), as: "sealed-addresses")
    return try Base64URLText.encode(cryptography.publicKey(of: known[0]))
  }

  /// Opens a sealed push, once.
  /// - Parameter userInfo: of the notification's content.
  /// - Returns: nil for a push that is not sealed.
  /// - Throws: ``SealedContentError``; leave the notification as it is then.
  public func open(_ userInfo: [AnyHashable: Any]) throws(SealedContentError) -> SealedContent? {
    guard let text = userInfo["sealed"] as? String else { return nil }
    guard text.utf8.count <= 4096, let envelope = Base64URLText.decode(text), let version = envelope.first,
      let event = SealedEvent(userInfo)
    else { throw .malformed }
    guard version == 1 else { throw .unknownVersion }
    guard envelope.count >= Self.headBytes + 16 else { throw .malformed }
    let content = try decrypted(envelope, of: event)
    guard now().timeIntervalSince(content.issuedAt) <= lifetime else { throw .tooOld }
    var opened = OpenedEvents(store)
    guard opened.admit(cryptography.digest(event.text), issuedAt: content.issuedAt) else { throw .alreadyOpened }
    // What cannot be kept cannot be refused later; the words are worth more.
    try? opened.save(to: store)
    return content
  }

  private func decrypted(_ envelope: Data, of event: SealedEvent) throws(SealedContentError) -> SealedContent {
    let head = envelope.prefix(Self.headBytes)
    guard let (key, publicKey) = privateKey(identifiedBy: head.dropFirst().prefix(4)) else { throw .unknownKey }
    let ephemeral = Data(head.suffix(Self.keyBytes))
    guard let secret = try? cryptography.sharedSecret(key, with: ephemeral) else { throw .notAuthentic }
    let material = cryptography.derive(
      from: secret, salt: ephemeral + publicKey, info: Data("tacet sealed content v1".utf8), byteCount: 44)
    for address in addresses {
      let bound = cryptography.digest(Data("apns\0\(address)\0".utf8) + event.text)
      let document = try? cryptography.open(
        envelope.dropFirst(Self.headBytes), key: Data(material.prefix(32)), nonce: Data(material.suffix(12)),
        authenticating: head + bound)
      guard let document else { continue }
      guard let content = SealedContent(document) else { throw .malformed }
      return content
    }
    throw .notAuthentic
  }

  private func privateKey(identifiedBy identifier: Data) -> (private: Data, public: Data)? {
    for key in (try? privateKeys()) ?? [] {
      guard let publicKey = try? cryptography.publicKey(of: key) else { continue }
      if cryptography.digest(publicKey).prefix(4).elementsEqual(identifier) { return (key, publicKey) }
    }
    return nil
  }

  private func privateKeys() throws -> [Data] {
    let all = try keys.load()
    return stride(from: 0, to: all.count - all.count % Self.keyBytes, by: Self.keyBytes).map {
      Data(all.dropFirst($0).prefix(Self.keyBytes))
    }
  }

  private var addresses: [String] {
    store.load("sealed-addresses").flatMap { try? JSONDecoder().decode([String].self, from: $0) } ?? []
  }
}

/// What a push says that it is about: its kind and its subject.
struct SealedEvent {
  /// Both, with a zero byte between them.
  let text: Data

  init?(_ userInfo: [AnyHashable: Any]) {
    guard let kind = userInfo["type"] as? String,
      let id = userInfo[kind == "message" ? "message_id" : "subject_id"] as? String
    else { return nil }
    text = Data("\(kind)\0\(id)".utf8)
  }
}

/// The events of sealed pushes that were opened, so that none opens twice.
///
/// A push that the service sends again, because it does not know that the first one arrived, is sealed again and issued later. It
/// opens. What is forgotten is refused by its age.
struct OpenedEvents: Codable {
  private static let name = "sealed-opened"
  /// The events that are kept.
  static let eventsMax = 512

  private struct Event: Codable {
    let digest: String
    let issuedAt: Double
  }

  /// The newest last.
  private var events: [Event] = []
  /// Nothing that was issued until then opens any more, in seconds since 1970.
  private var forgottenUntil: Double = 0

  init(_ store: any ClientStore) {
    guard let document = store.load(Self.name), let known = try? JSONDecoder().decode(Self.self, from: document) else {
      return
    }
    self = known
  }

  /// Notes an event; false when it was opened before, and issued no earlier then.
  mutating func admit(_ digest: Data, issuedAt: Date) -> Bool {
    let digest = Base64URLText.encode(digest.prefix(16))
    let issued = issuedAt.timeIntervalSince1970
    guard issued > forgottenUntil else { return false }
    if let known = events.first(where: { $0.digest == digest }), known.issuedAt >= issued { return false }
    events.removeAll { $0.digest == digest }
    events.append(Event(digest: digest, issuedAt: issued))
    while events.count > Self.eventsMax { forgottenUntil = max(forgottenUntil, events.removeFirst().issuedAt) }
    return true
  }

  func save(to store: any ClientStore) throws { try store.save(JSONEncoder().encode(self), as: Self.name) }
}

/// Base64 with the URL-safe alphabet and without padding (RFC 4648 section 5).
enum Base64URLText {
  static func encode(_ bytes: Data) -> String {
    bytes.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }

  /// Nil for padding, other characters, and trailing bits that are not zero.
  static func decode(_ text: String) -> Data? {
    let plain = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    let padded = plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
    guard let bytes = Data(base64Encoded: padded), encode(bytes) == text else { return nil }
    return bytes
  }
}
