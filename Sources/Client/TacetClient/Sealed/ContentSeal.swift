public import Foundation

/// Keeps a device's keys, and opens sealed pushes in the notification service extension.
///
///     // In the app, at each registration:
///     device.sealingKey = try seal.registrationKey(for: deviceToken)
///
/// `deploy/API.md` describes the envelope byte by byte.
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
