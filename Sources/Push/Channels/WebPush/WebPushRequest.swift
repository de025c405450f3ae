internal import Cryptography
internal import HTTPTypes

/// One push to a browser, before it is encrypted.
package struct WebPushRequest: Equatable, Sendable {
  /// How soon a battery-powered device is to be woken (RFC 8030 section 5.3).
  package enum Urgency: String, CaseIterable, Sendable {
    /// Only on power and Wi-Fi.
    case veryLow = "very-low"
    /// On power or Wi-Fi.
    case low
    /// At any time except with little battery.
    case normal
    /// At any time: messages and time-sensitive news.
    case high
  }

  /// The accepted times to live, in seconds. Apple and Windows refuse 0. Four weeks, FCM's longest, is less than what others
  /// silently cut.
  static let timeToLive: ClosedRange<Int64> = 1...2_419_200

  /// The JSON document of a ``WebPushNotification``; nil for an empty push, which makes the worker fetch.
  package let content: [UInt8]?
  package let urgency: Urgency
  /// How long the push service keeps it for a browser that is offline, in seconds: 1 to 2,419,200.
  package let timeToLiveSeconds: Int64
  /// Replaces an undelivered push with the same topic; nil for none.
  package let topic: WebPushTopic?

  /// Describes a push.
  /// - Parameters:
  ///   - content: at most ``WebPushEncryption/contentBytesMax`` bytes; nil or an empty array for an empty push.
  ///   - timeToLiveSeconds: moved into the accepted range.
  /// - Throws: `payloadTooLarge`.
  package init(
    content: [UInt8]?, urgency: Urgency, timeToLiveSeconds: Int64, topic: WebPushTopic? = nil
  ) throws(WebPushError) {
    guard content?.count ?? 0 <= WebPushEncryption.contentBytesMax else {
      throw WebPushError(.payloadTooLarge, "more than \(WebPushEncryption.contentBytesMax) bytes")
    }
    self.content = content?.isEmpty == false ? content : nil
    self.urgency = urgency
    self.timeToLiveSeconds = min(max(timeToLiveSeconds, Self.timeToLive.lowerBound), Self.timeToLive.upperBound)
    self.topic = topic
  }

  func fields(authorization: String) -> HTTPFields {
    var fields: HTTPFields = [.authorization: authorization]
    fields[.timeToLive] = "\(timeToLiveSeconds)"
    fields[.urgency] = urgency.rawValue
    if let topic { fields[.topic] = topic.text }
    if content != nil {
      fields[.contentEncoding] = "aes128gcm"
      fields[.contentType] = "application/octet-stream"
    }
    return fields
  }
}

/// The name under which a push replaces an undelivered one (RFC 8030 section 5.4).
///
/// FCM delivers pushes with a topic more slowly: 20 at once and then one in three minutes. Use it only where losing the older
/// push is right.
package struct WebPushTopic: Hashable, Sendable {
  /// 32 hexadecimal digits: a form that every service accepts. Apple decodes the text as base64url, so it refuses some lengths.
  package let text: String

  /// The topic of a collapse identifier of any length: half of its SHA-256.
  package init(of collapseIdentifier: String) {
    text = SHA256.hash(Array(collapseIdentifier.utf8)).hexadecimal(bytes: 16)
  }
}

extension HTTPField.Name {
  static let timeToLive = Self("TTL")!
  static let urgency = Self("Urgency")!
  static let topic = Self("Topic")!
}
