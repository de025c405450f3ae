import Cryptography
import Foundation
import Synchronization
import Testing

@testable import PushRules
@testable import TacetClient

/// The service's own algorithms, where the system has none.
struct TestSealingCryptography: SealingCryptography {
  func makePrivateKey() -> Data { Data(X25519PrivateKey().scalar) }
  func publicKey(of key: Data) throws -> Data { Data(try X25519PrivateKey(scalar: Array(key)).publicKey.bytes) }
  func sharedSecret(_ key: Data, with other: Data) throws -> Data {
    Data(try X25519PrivateKey(scalar: Array(key)).sharedSecret(with: X25519PublicKey(Array(other))))
  }
  func derive(from secret: Data, salt: Data, info: Data, byteCount: Int) -> Data {
    Data(HKDFSHA256.derive(from: Array(secret), salt: Array(salt), info: Array(info), byteCount: byteCount))
  }
  func digest(_ content: Data) -> Data { Data(SHA256.hash(Array(content)).bytes) }
  func open(_ sealed: Data, key: Data, nonce: Data, authenticating data: Data) throws -> Data {
    let content = AESGCM(key: Array(key)).open(Array(sealed), nonce: Array(nonce), additionalData: Array(data))
    guard let content else { throw CancellationError() }
    return Data(content)
  }
}

/// The device's clock.
private final class DeviceClock: Sendable {
  let seconds = Mutex<Double>(1_800_000_000)
}

/// Keys and documents in memory.
final class SealedStore: SealingKeyStore, ClientStore {
  private let documents = Mutex<[String: Data]>([:])
  func load() throws -> Data { load("keys") ?? Data() }
  func save(_ keys: Data) throws { try save(keys, as: "keys") }
  func load(_ name: String) -> Data? { documents.withLock { $0[name] } }
  func save(_ document: Data?, as name: String) throws { documents.withLock { $0[name] = document } }
}

@Suite("Sealed content on the device")
struct SealedContentTests {
  private static let token = Data([0xAB, 0x12])
  private let store = SealedStore()
  private let clock = DeviceClock()

  private func seal(_ store: SealedStore? = nil) -> ContentSeal {
    let store = store ?? self.store
    let now = clock.seconds.withLock { $0 }
    return ContentSeal(keys: store, store: store, cryptography: TestSealingCryptography()) {
      Date(timeIntervalSince1970: now)
    }
  }

  /// What the service sends to a device with a key.
  private func push(
    _ key: String, id: String = "m-1", address: String = "ab12", issuedAt: Int64 = 1_800_000_000_000
  ) throws -> [AnyHashable: Any] {
    let subject = PushSubject.message(HostID(text: id))
    let content = MessagePush(conversationID: HostID(text: "c-1"), senderName: "Anna", text: "The secret")
    var forms = ContentForms()
    let form = try forms.form(
      of: content.push(about: subject),
      for: PushTarget(address: address, keys: #"{"content":"sealed","sealing_key":"\#(key)"}"#), by: ContentPolicy(),
      about: ContentForms.Event(subject, sender: content.sender, in: .builtIn, nil, issuedAt: issuedAt))
    let body = try form.payload.encoded(badge: 1, logID: UUID().uuidString.lowercased())
    return try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
  }

  private func refusal(_ userInfo: [AnyHashable: Any], _ seal: ContentSeal? = nil) -> SealedContentError? {
    do throws(SealedContentError) {
      _ = try (seal ?? self.seal()).open(userInfo)
      return nil
    } catch { return error }
  }

  @Test("a push that the service has sealed says what it would have said")
  func opened() throws {
    let userInfo = try push(seal().registrationKey(for: Self.token))
    let content = try #require(try seal().open(userInfo))
    #expect(content.title == "Message from Anna" && content.body == "The secret" && content.subtitle == nil)
    #expect(content.issuedAt == Date(timeIntervalSince1970: 1_800_000_000))
    #expect(content.userInfo(completing: userInfo)["sealed"] == nil)
    #expect(PushContent(content.userInfo(completing: userInfo)).conversationID == "c-1")
    #expect(try seal().open(["type": "message", "message_id": "m-1"]) == nil)
  }

  @Test("nothing opens twice, unless the service has sealed it again, later")
  func replay() throws {
    let key = try seal().registrationKey(for: Self.token)
    let first = try push(key)
    #expect(try seal().open(first) != nil)
    #expect(refusal(first) == .alreadyOpened)
    #expect(refusal(try push(key, issuedAt: 1_799_999_999_999)) == .alreadyOpened)
    #expect(try seal().open(push(key, issuedAt: 1_800_000_000_001)) != nil)
    #expect(refusal(first) == .alreadyOpened)
  }

  @Test("what is no longer remembered is refused by its age")
  func forgotten() throws {
    let key = try seal().registrationKey(for: Self.token)
    for number in 0...Int64(OpenedEvents.eventsMax) {
      #expect(try seal().open(push(key, id: "m-\(number)", issuedAt: 1_800_000_000_000 + number)) != nil)
    }
    #expect(refusal(try push(key, id: "m-0")) == .alreadyOpened)
    #expect(refusal(try push(key, id: "m-1", issuedAt: 1_800_000_000_001)) == .alreadyOpened)
  }

  @Test("a week is the limit", arguments: [(604_800.0, nil), (604_801, .tooOld)] as [(Double, SealedContentError?)])
  func age(_ seconds: Double, _ expected: SealedContentError?) throws {
    let userInfo = try push(seal().registrationKey(for: Self.token))
    clock.seconds.withLock { $0 += seconds }
    #expect(refusal(userInfo) == expected)
  }

  @Test("other devices, events, versions and bits do not open")
  func refused() throws {
    let key = try seal().registrationKey(for: Self.token)
    let userInfo = try push(key)
    let other = SealedStore()
    _ = try seal(other).registrationKey(for: Self.token)
    #expect(refusal(userInfo, seal(other)) == .unknownKey)
    // The key was copied to another device.
    try other.save(store.load())
    _ = try seal(other).registrationKey(for: Data([0xCD]))
    #expect(refusal(try push(key, address: "cd00"), seal(other)) == .notAuthentic)
    for (name, value) in [("message_id", "m-2"), ("type", "answer"), ("message_id", "")] {
      var changed = userInfo
      changed[name] = value
      changed["subject_id"] = "m-1"
      #expect(refusal(changed) == .notAuthentic, "\(name)")
    }
    var nameless = userInfo
    nameless["message_id"] = 7
    #expect(refusal(nameless) == .malformed)
    let envelope = Array(try #require(Base64URLText.decode(userInfo["sealed"] as? String ?? "")))
    func refusalOfEnvelope(_ bytes: some Sequence<UInt8>) -> SealedContentError? {
      var changed = userInfo
      changed["sealed"] = Base64URLText.encode(Data(bytes))
      return self.refusal(changed)
    }
    #expect(refusalOfEnvelope([2] + envelope.dropFirst()) == .unknownVersion)
    for bit in 8..<(envelope.count * 8) {
      var changed = envelope
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(refusalOfEnvelope(changed) == (bit < 40 ? .unknownKey : .notAuthentic), "bit \(bit)")
    }
    for count in 0..<envelope.count {
      #expect(refusalOfEnvelope(envelope.prefix(count)) == (count < 53 ? .malformed : .notAuthentic), "\(count) bytes")
    }
    for text in ["=", "AQ==", String(repeating: "A", count: 4097)] {
      var changed = userInfo
      changed["sealed"] = text
      #expect(self.refusal(changed) == .malformed)
    }
    #expect(try seal().open(userInfo) != nil)
  }

  @Test("a rotated key and a new token open what was sealed for the ones before them, and no older ones")
  func rotation() throws {
    let first = try seal().registrationKey(for: Self.token)
    #expect(try seal().registrationKey(for: Self.token) == first)
    let second = try seal().registrationKey(for: Data([0xCD]), rotates: true)
    #expect(second != first)
    #expect(try seal().open(push(first, id: "m-1")) != nil)
    #expect(try seal().open(push(second, id: "m-2", address: "cd")) != nil)
    _ = try seal().registrationKey(for: Data([0xEF]), rotates: true)
    #expect(refusal(try push(first, id: "m-3", address: "cd")) == .unknownKey)
    #expect(refusal(try push(second, id: "m-4")) == .notAuthentic)
  }

  @Test("a registration says what the user chose and the key")
  func registration() throws {
    var device = DeviceRegistration(deviceToken: Self.token, app: nil, platform: nil, locale: nil, timeZone: nil)
    device.content = .sealed
    device.sealingKey = "key"
    let members = try JSONSerialization.jsonObject(with: JSONEncoder().encode(device)) as? [String: String]
    #expect(members == ["content": "sealed", "sealing_key": "key"])
  }
}
