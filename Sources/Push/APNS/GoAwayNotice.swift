internal import APNSCore
internal import HTTP2

/// What APNs says with a GOAWAY, and what follows from it.
struct GoAwayNotice: Equatable {
  /// What the lane does next.
  enum Consequence: Equatable {
    /// Open another connection, with a fresh look-up of the name.
    case reconnect
    /// Open another connection when there is a push for it: nothing was wrong.
    case reconnectWhenNeeded
    /// Nothing until somebody has changed a setting: another connection would be told the same.
    case configurationFault(PushReason)
  }

  /// Reasons that the credential or its use brings on. The table of answers does not say it, because it looks a reason up
  /// together with its status, and a GOAWAY has none.
  private static let configurationFaults: Set<PushReason> = [
    "BadCertificate", "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken",
    "Forbidden", "InvalidProviderToken", "MissingProviderToken", "TopicDisallowed",
  ]

  /// Debug data that is no reason is quoted up to so many bytes.
  private static let quotedBytesMax = 200

  /// The `reason` of the debug data; nil when that is empty, another text, or other JSON.
  let reason: PushReason?

  /// The reason, or whatever else the server said, for an operator.
  let words: String

  init(_ goAway: HTTP2GoAway) {
    reason = PushAnswer(status: 0, identifier: nil, body: goAway.debugData).reason
    if let reason {
      words = reason.rawValue
    } else if goAway.debugData.isEmpty {
      words = "GOAWAY \(goAway.code)"
    } else {
      words = "GOAWAY \(goAway.code): \(Self.quote(goAway.debugData))"
    }
  }

  var consequence: Consequence {
    guard let reason else { return .reconnect }
    if Self.configurationFaults.contains(reason) { return .configurationFault(reason) }
    return reason == "IdleTimeout" ? .reconnectWhenNeeded : .reconnect
  }

  /// Control characters do not belong in a log line.
  private static func quote(_ bytes: [UInt8]) -> String {
    let text = String(decoding: bytes.prefix(quotedBytesMax), as: UTF8.self)
    return String(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
  }
}
