internal import Foundation

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
