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
