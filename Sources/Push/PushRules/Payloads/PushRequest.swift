internal import Cryptography

/// One push, ready to be sent: `POST` of the body to the head's path.
package struct PushRequest: Equatable, Sendable {
  package let head: PushRequestHead
  /// The JSON document, UTF-8, uncompressed.
  package let body: [UInt8]

  /// Joins a head and a body that fits its push type.
  ///
  /// - Throws: `payloadEmpty` or `payloadTooLarge`, as APNs would answer.
  package init(head: PushRequestHead, body: [UInt8]) throws(PushRequestError) {
    guard !body.isEmpty else { throw PushRequestError(.payloadEmpty, "a push needs a body") }
    guard body.count <= head.bodyBytesMax else {
      throw PushRequestError(
        .payloadTooLarge, "\(body.count) bytes; a push of type \(head.pushType.rawValue) takes \(head.bodyBytesMax)")
    }
    self.head = head
    self.body = body
  }
}

extension PushRequest {
  /// Joins a payload with its address; the push type is the payload's.
  ///
  /// - Parameters:
  ///   - deviceToken: the one for the push type. Apps have one token each for alerts, calls, every Live Activity and so on.
  ///   - bundleIdentifier: the app; with ``PushType/mdm`` the UID in the subject of the management certificate.
  ///   - priority: nil for ``PushType/usualPriority``.
  ///   - expiration: nil for ``PushType/usualExpiration``.
  /// - Throws: `priorityNotAllowed` or `payloadTooLarge`, as APNs would answer.
  package init(
    _ payload: some PushPayload,
    to deviceToken: DeviceToken,
    of bundleIdentifier: BundleIdentifier,
    priority: PushPriority? = nil,
    expiration: PushExpiration? = nil,
    identifier: PushIdentifier,
    collapseIdentifier: CollapseIdentifier? = nil
  ) throws(PushRequestError) {
    let type = payload.pushType
    let head = try PushRequestHead(
      deviceToken: deviceToken, pushType: type, bundleIdentifier: bundleIdentifier,
      priority: priority ?? type.usualPriority, expiration: expiration ?? type.usualExpiration, identifier: identifier,
      collapseIdentifier: collapseIdentifier)
    try self.init(head: head, body: payload.encoded())
  }
}

/// The path and the `apns-…` header fields of a push request.
///
/// The connection adds `authorization`, because the provider token belongs to the connection and lives longer than a request.
package struct PushRequestHead: Equatable, Sendable {
  /// The device addressed, or one of its Live Activities.
  package let deviceToken: DeviceToken
  package let pushType: PushType
  /// What the credential must cover, `apns-topic`: the app's bundle identifier with the suffix of the push type.
  package let topic: String
  package let priority: PushPriority
  package let expiration: PushExpiration
  /// The stable identity over all attempts.
  package let identifier: PushIdentifier
  /// Pushes with the same one replace one another on the screen; nil when this one should not.
  package let collapseIdentifier: CollapseIdentifier?

  /// The head of a push to a device.
  /// - Throws: `priorityNotAllowed` when APNs does not take the priority for the push type.
  package init(
    deviceToken: DeviceToken,
    pushType: PushType,
    bundleIdentifier: BundleIdentifier,
    priority: PushPriority,
    expiration: PushExpiration,
    identifier: PushIdentifier,
    collapseIdentifier: CollapseIdentifier? = nil
  ) throws(PushRequestError) {
    guard pushType.allows(priority) else {
      throw PushRequestError(
        .priorityNotAllowed, "priority \(priority.rawValue) is not allowed for a push of type \(pushType.rawValue)")
    }
    self.deviceToken = deviceToken
    self.pushType = pushType
    topic = pushType.topic(bundleIdentifier: bundleIdentifier.text)
    self.priority = priority
    self.expiration = expiration
    self.identifier = identifier
    self.collapseIdentifier = collapseIdentifier
  }
}

extension PushRequestHead {
  package var bodyBytesMax: Int { pushType.bodyBytesMax }

  package var path: String { "/3/device/" + deviceToken.hexadecimal }

  /// The header fields in wire order, names in lower case as HTTP/2 requires, without pseudo-fields and `authorization`.
  package var fields: [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    forEachField { name, value, _ in fields.append((name, value)) }
    return fields
  }

  /// Calls `body` with each of ``fields``, and with whether its value belongs to this push alone.
  ///
  /// Values that most pushes share come first, unique ones last.
  package func forEachField(_ body: (_ name: String, _ value: String, _ isUnique: Bool) -> Void) {
    body("content-type", "application/json", false)
    body("apns-topic", topic, false)
    body("apns-push-type", pushType.rawValue, false)
    body("apns-priority", priority.headerValue, false)
    if let expiration = expiration.headerValue { body("apns-expiration", expiration, false) }
    body("apns-id", identifier.text, true)
    if let collapseIdentifier { body("apns-collapse-id", collapseIdentifier.text, true) }
  }
}

/// Why a push cannot become a request; thrown before anything is sent.
///
/// Each push that APNs refuses lowers the sender's throughput, and many of them end the connection. So what APNs would
/// certainly refuse is refused here first.
package struct PushRequestError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The device token is empty, too long, or not the hexadecimal form of whole bytes.
    case deviceTokenMalformed
    /// The address or the keys of a browser or of an Android app are not what its push service gives out.
    case targetMalformed
    /// The collapse identifier is empty, longer than 64 bytes, or unfit for a header.
    case collapseIdentifierMalformed
    /// The bundle identifier is empty, too long, or has other characters than letters, digits, dots and hyphens.
    case bundleIdentifierMalformed
    /// APNs does not take this priority for this push type.
    case priorityNotAllowed
    case payloadEmpty
    /// The body is larger than its push type allows, even without its alert text.
    case payloadTooLarge
    /// Custom data uses a key that belongs to Apple.
    case customKeyReserved
    /// The push would show and play nothing, or asks for something that needs a text.
    case nothingToShow
    /// A number is infinite or NaN, which JSON cannot write.
    case numberNotFinite
    /// A number that must be within 0...1 is not.
    case fractionOutOfRange
  }

  package let code: Code
  /// The fault and the limit, for an engineer; holds no token, title, body or custom value.
  package let message: String

  /// Creates an error; `message` must not quote user content.
  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { "\(code.rawValue): \(message)" }
}

/// What a push asks the device to do: the value of the `apns-push-type` header.
///
/// Raw values are the header values. Source: "Sending notification requests to APNs" (Apple); two topic suffixes are
/// misprinted there (`h.complication`, and the Live Activity suffix without its leading dot), so the forms here are
/// those that clients send and APNs accepts.
package enum PushType: String, CaseIterable, Sendable {
  /// Shows an alert, plays a sound or sets a badge.
  case alert
  /// Wakes the app without showing anything; at most two or three an hour are delivered.
  case background
  case complication
  /// Reloads a control of Control Center.
  case controls
  /// Tells a file provider extension that its content changed.
  case fileprovider
  case liveactivity
  /// Asks for the device's location; works with provider tokens only.
  case location
  /// Makes a managed device contact its server.
  case mdm
  case pushtotalk
  /// Announces an incoming call.
  case voip
  case widgets
}

extension PushType {
  /// What follows the bundle identifier in `apns-topic`; empty for types whose topic is the bundle identifier itself.
  package var topicSuffix: String {
    switch self {
    case .alert, .background, .mdm: ""
    case .complication: ".complication"
    case .controls: ".push-type.controls"
    case .fileprovider: ".pushkit.fileprovider"
    case .liveactivity: ".push-type.liveactivity"
    case .location: ".location-query"
    case .pushtotalk: ".voip-ptt"
    case .voip: ".voip"
    case .widgets: ".push-type.widgets"
    }
  }

  /// The `apns-topic` of a push of this type to an app.
  ///
  /// - Parameter bundleIdentifier: the app's identifier, or for ``mdm`` the UID in the subject of the management
  ///   certificate.
  package func topic(bundleIdentifier: String) -> String {
    topicSuffix.isEmpty ? bundleIdentifier : bundleIdentifier + topicSuffix
  }

  package var allowedPriorities: [PushPriority] { PushPriority.allCases.filter(allows) }

  /// Whether APNs takes a priority for this type; everything Apple does not call an error is allowed.
  ///
  /// A background push at 10 is documented as an error, and Live Activities name 5 and 10 only.
  package func allows(_ priority: PushPriority) -> Bool {
    switch (self, priority) {
    case (.background, .powerAware): true
    case (.background, _): false
    case (.liveactivity, .neverWaking): false
    default: true
    }
  }

  /// The largest body, in bytes of JSON as sent, that APNs takes for this type on the device endpoint.
  ///
  /// Source: "Generating a remote notification" (Apple): 5 KB for calls, 4 KB for everything else.
  package var bodyBytesMax: Int {
    self == .voip ? 5120 : 4096
  }
}

// The defaults of a push of each type.
extension PushType {
  /// The priority that suits the type: 5 where APNs takes no other or counts 10 toward a budget, else 10, which is also
  /// APNs' own default.
  package var usualPriority: PushPriority {
    switch self {
    case .background, .liveactivity: .powerAware
    default: .immediate
    }
  }

  /// How long APNs keeps a push of the type: speech of a push-to-talk app is worthless later; the service's own policy rules
  /// the rest.
  package var usualExpiration: PushExpiration {
    self == .pushtotalk ? .attemptOnce : .servicePolicy
  }
}

/// How urgently APNs hands a push to the device: the value of the `apns-priority` header.
///
/// It travels in the header only: APNs ignores a `priority` inside `aps`, so no payload type of this module has one.
package enum PushPriority: Int, CaseIterable, Sendable {
  /// At once, waking the device if it must.
  case immediate = 10
  /// When the device's power allows; may be batched, throttled or dropped.
  case powerAware = 5
  /// Never wakes the device; may be batched, throttled or dropped.
  case neverWaking = 1

  /// The header value, in decimal digits; constant strings, because every push needs one.
  package var headerValue: String {
    switch self {
    case .immediate: "10"
    case .powerAware: "5"
    case .neverWaking: "1"
    }
  }
}

/// How long APNs keeps a push that it cannot hand to the device yet: the `apns-expiration` header.
///
/// APNs keeps one stored push per app and device; a newer one usually replaces the older.
package enum PushExpiration: Equatable, Sendable {
  /// One attempt, then forgotten (header value 0). For a push that is worthless later.
  case attemptOnce
  /// Stored and attempted until this wall-clock moment in Unix seconds. APNs accepts a moment in the past too.
  case until(unixSeconds: Int64)
  /// The header is left out and the service's own policy rules: at most 30 days.
  case servicePolicy

  /// The header value, or nil when the header is left out. A moment before 1970 becomes 0, because APNs
  /// refuses a sign.
  package var headerValue: String? {
    switch self {
    case .attemptOnce: "0"
    case .until(let unixSeconds): String(max(0, unixSeconds))
    case .servicePolicy: nil
    }
  }
}

/// The `apns-id` of a push: the same event, recipient and device give the same identifier, in every attempt of every
/// process.
///
/// A version 5 UUID (RFC 9562 §5.5, SHA-1 over a namespace and a name) in lower-case 8-4-4-4-12 form, as Apple documents
/// it. It protects no secret: SHA-1 is what the RFC asks for.
package struct PushIdentifier: Hashable, Sendable {
  /// Tacet's name space, a random UUID. A change would give every push in flight a second identity.
  private static let namespace: [UInt8] = [
    0x7F, 0x8D, 0xEC, 0x24, 0x7A, 0xD0, 0x48, 0x68, 0x9F, 0x48, 0x43, 0x4F, 0xC4, 0xFF, 0x50, 0x2C,
  ]

  /// 36 characters of lower-case hexadecimal digits and hyphens.
  package let text: String

  /// Derives the identifier of one push.
  ///
  /// A zero byte, which PostgreSQL's text cannot hold, joins the parts, so two different lists never make the same name.
  /// Give identifiers the way the database prints them.
  /// - Parameters:
  ///   - eventKind: the kind of event, such as `message`.
  ///   - event: the event's identifier within its kind.
  ///   - recipient: the user's identifier.
  package init(eventKind: String, event: String, recipient: String, deviceToken: DeviceToken) {
    text = Self.version5(namespace: Self.namespace, name: [eventKind, event, recipient, deviceToken.hexadecimal])
  }

  /// A text of 36 characters that stands for one of any length: the same for the same text.
  package static func digest(of text: String) -> String { version5(namespace: namespace, name: [text]) }

  /// - Parameter name: parts that a zero byte joins; on the stack, because every push has a name.
  static func version5(namespace: [UInt8], name: [String]) -> String {
    let byteCount = name.reduce(namespace.count + name.count - 1) { $0 + $1.utf8.count }
    return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 1) { bytes in
      bytes.copyBytes(from: namespace)
      var end = namespace.count
      for (index, part) in name.enumerated() {
        if index > 0 {
          bytes[end] = 0
          end += 1
        }
        UnsafeMutableRawBufferPointer(rebasing: bytes[end...]).copyBytes(from: part.utf8)
        end += part.utf8.count
      }
      return SHA1.hash(UnsafeRawBufferPointer(bytes)) { hash in
        let high = UInt64(bigEndian: hash.loadUnaligned(as: UInt64.self))
        let low = UInt64(bigEndian: hash.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        // Version 5, and the variant of RFC 9562.
        return HexadecimalDigits.uuid(
          high: high & ~0xF000 | 0x5000, low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
      }
    }
  }
}

/// Pushes with the same value replace one another on the device's screen: the `apns-collapse-id` header.
///
/// It is the only server-side means against visible duplicates (`apns-id` is not documented as one), so every push that may
/// be resent keeps one over all its attempts.
package struct CollapseIdentifier: Hashable, Sendable {
  /// APNs' limit, in bytes and not in characters.
  package static let bytesMax = 64

  package let text: String

  /// Takes printable ASCII text of 1 to 64 bytes.
  ///
  /// Apple limits only the length. The characters are those that a header field carries unharmed (RFC 9110 §5.5), without
  /// the spaces that HTTP/2 forbids at either end (RFC 9113 §8.2.1).
  /// - Throws: `collapseIdentifierMalformed`.
  package init(_ text: String) throws(PushRequestError) {
    guard (1...Self.bytesMax).contains(text.utf8.count) else {
      throw PushRequestError(
        .collapseIdentifierMalformed, "\(text.utf8.count) bytes long; 1 to \(Self.bytesMax) are allowed")
    }
    var text = text
    guard text.withUTF8({ $0.allSatisfy { (0x21...0x7E).contains($0) } }) else {
      throw PushRequestError(.collapseIdentifierMalformed, "only printable ASCII without spaces is allowed")
    }
    self.text = text
  }
}

/// The digits of hexadecimal text as ASCII bytes.
package enum HexadecimalDigits {
  /// The digit of a number below 16. Arithmetic, because a global table costs a check for its initialisation on each use.
  static func lowerCase(_ number: UInt8) -> UInt8 {
    number < 10 ? UInt8(ascii: "0") &+ number : UInt8(ascii: "a") &- 10 &+ number
  }

  /// A UUID's text: 8-4-4-4-12 digits in lower case, as PostgreSQL prints and APNs documents it. Every push needs several, and
  /// Foundation formats each byte by `snprintf`.
  /// - Parameters:
  ///   - high: its first eight bytes, the first of them in the highest bits.
  ///   - low: its last eight bytes.
  package static func uuid(high: UInt64, low: UInt64) -> String {
    String(unsafeUninitializedCapacity: 36) { text in
      var position = 0
      for index in 0..<16 {
        if index == 4 || index == 6 || index == 8 || index == 10 {
          text[position] = UInt8(ascii: "-")
          position += 1
        }
        let byte = UInt8(truncatingIfNeeded: (index < 8 ? high : low) >> UInt64(56 - 8 * (index & 7)))
        text[position] = lowerCase(byte >> 4)
        text[position + 1] = lowerCase(byte & 0x0F)
        position += 2
      }
      return position
    }
  }
}
