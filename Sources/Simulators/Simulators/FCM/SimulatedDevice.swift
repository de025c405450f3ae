/// An app on a device, and what it has received.
struct SimulatedDevice {
  /// What FCM answers for its token.
  enum State: String, Codable {
    case registered
    /// The app was uninstalled.
    case unregistered
    /// Too many messages in a minute.
    case busy
    /// An iOS app of a project whose APNs key is wrong.
    case wrongAPNSKey = "wrong_apns_key"
  }

  /// FCM expires tokens after 270 days without a connection.
  static let inactiveMillisecondsMax: Int64 = 270 * 86_400_000

  /// Limits of FCM: messages without a collapse key, and collapse keys, that wait for an offline device.
  private static let (waitingMax, collapseKeysMax) = (100, 4)

  /// Notifications at once, and the time until one more. Source: "Throttling and quotas".
  private static let (burst, refillMilliseconds) = (Int64(20), Int64(180_000))

  /// Deliveries that are shown to tests.
  private static let deliveredMax = 1000

  let project: String
  var package: String?
  var state = State.registered
  /// Simulated milliseconds since 1970, as all times here.
  var lastActiveAt: Int64

  private(set) var isOnline = true
  private(set) var delivered: [Delivery] = []
  /// Whether messages were dropped because too many waited.
  private(set) var hasDeletedMessages = false
  private var waiting: [StoredMessage] = []
  /// When the burst of notifications would be used up entirely (the generic cell rate algorithm of ITU-T I.371).
  private var burstEndsAt: Int64 = 0

  init(project: String, lastActiveAt: Int64) {
    self.project = project
    self.lastActiveAt = lastActiveAt
  }

  var waitingCount: Int { waiting.count }

  /// Notifications on the screen: of those with one tag, one.
  var shownCount: Int { Set(delivered.filter(\.isNotification).map { $0.tag ?? $0.name }).count }

  /// Delivers a message, or stores it while the device is offline.
  mutating func receive(_ message: MessageInquiry, name: String, now: Int64) {
    let stored = StoredMessage(message, name: name, now: now)
    if isOnline { return deliver(stored, now: now) }
    guard message.ttlSeconds > 0 else { return }
    if let key = stored.collapseKey {
      store(stored, under: key)
    } else if waiting.count(where: { $0.collapseKey == nil }) < Self.waitingMax {
      waiting.append(stored)
    } else {
      waiting.removeAll { $0.collapseKey == nil }
      hasDeletedMessages = true
    }
  }

  /// The device connects, which delivers what has waited, or loses its connection.
  mutating func setOnline(_ isOnline: Bool, now: Int64) {
    self.isOnline = isOnline
    guard isOnline else { return }
    lastActiveAt = now
    for message in waiting where message.endsAt > now { deliver(message, now: now) }
    waiting = []
  }

  private mutating func store(_ message: StoredMessage, under key: String) {
    waiting.removeAll { $0.collapseKey == key }
    let keys = waiting.compactMap(\.collapseKey)
    if keys.count >= Self.collapseKeysMax { waiting.removeAll { $0.collapseKey == keys[0] } }
    waiting.append(message)
  }

  private mutating func deliver(_ message: StoredMessage, now: Int64) {
    var moment = now
    if message.isNotification {
      burstEndsAt = max(burstEndsAt, now)
      moment = max(now, burstEndsAt - (Self.burst - 1) * Self.refillMilliseconds)
      burstEndsAt += Self.refillMilliseconds
    }
    if delivered.count == Self.deliveredMax { delivered.removeFirst() }
    delivered.append(
      Delivery(
        name: message.name, atMilliseconds: moment, isNotification: message.isNotification, title: message.title,
        tag: message.tag))
  }

  /// One message that the device got, or gets later because notifications come too fast.
  struct Delivery: Codable, Equatable {
    let name: String
    let atMilliseconds: Int64
    let isNotification: Bool
    let title: String?
    let tag: String?

    enum CodingKeys: String, CodingKey {
      case name, title, tag
      case atMilliseconds = "at_ms"
      case isNotification = "notification"
    }
  }

  private struct StoredMessage {
    let name: String
    let isNotification: Bool
    let title: String?
    let tag: String?
    /// Of a notification without a key, the app's. Nil for data without a key.
    let collapseKey: String?
    let endsAt: Int64

    init(_ message: MessageInquiry, name: String, now: Int64) {
      self.name = name
      isNotification = message.isNotification
      title = message.title
      tag = message.tag
      collapseKey = message.collapseKey ?? (message.isNotification ? "" : nil)
      endsAt = now + message.ttlSeconds * 1000
    }
  }
}
