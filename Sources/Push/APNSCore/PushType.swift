/// What a push asks the device to do: the value of the `apns-push-type` header.
///
/// Raw values are the header values. Source: "Sending notification requests to APNs" (Apple); two topic suffixes are
/// misprinted there (`h.complication`, and the Live Activity suffix without its leading dot), so the forms here are
/// those that clients send and APNs accepts.
public enum PushType: String, CaseIterable, Sendable {
  /// Shows an alert, plays a sound or sets a badge.
  case alert
  /// Wakes the app without showing anything; at most two or three an hour are delivered.
  case background
  /// Updates a watch complication.
  case complication
  /// Reloads a control of Control Center.
  case controls
  /// Tells a file provider extension that its content changed.
  case fileprovider
  /// Starts, updates or ends a Live Activity.
  case liveactivity
  /// Asks for the device's location; works with provider tokens only.
  case location
  /// Makes a managed device contact its server.
  case mdm
  /// Wakes a push-to-talk app.
  case pushtotalk
  /// Announces an incoming call.
  case voip
  /// Reloads a widget's timeline.
  case widgets
}

extension PushType {
  /// What follows the bundle identifier in `apns-topic`; empty for types whose topic is the bundle identifier itself.
  public var topicSuffix: String {
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
  public func topic(bundleIdentifier: String) -> String {
    topicSuffix.isEmpty ? bundleIdentifier : bundleIdentifier + topicSuffix
  }

  /// The priorities APNs takes for this type.
  public var allowedPriorities: [PushPriority] { PushPriority.allCases.filter(allows) }

  /// Whether APNs takes a priority for this type; everything Apple does not call an error is allowed.
  ///
  /// A background push at 10 is documented as an error, and Live Activities name 5 and 10 only.
  public func allows(_ priority: PushPriority) -> Bool {
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
  public var bodyBytesMax: Int {
    self == .voip ? 5120 : 4096
  }
}
