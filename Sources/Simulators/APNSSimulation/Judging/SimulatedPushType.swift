/// The values of `apns-push-type`, each with the suffix its topic has and the size its body may have.
///
/// Written down here once more, apart from the product's own table, so that a mistake there cannot hide in its double.
/// Source: "Sending notification requests to APNs" (Apple).
public enum SimulatedPushType: String, CaseIterable, Codable, Sendable {
  /// Shown or heard.
  case alert
  /// Wakes the app in silence.
  case background
  /// Updates a watch face.
  case complication
  /// Reloads controls.
  case controls
  /// Signals a change in a file provider.
  case fileprovider
  /// Starts, updates or ends a Live Activity.
  case liveactivity
  /// Asks for the location.
  case location
  /// Wakes a managed device.
  case mdm
  /// Wakes a walkie-talkie.
  case pushtotalk
  /// Announces a call.
  case voip
  /// Reloads widgets.
  case widgets

  /// What follows the bundle identifier in the topic.
  var topicSuffix: String {
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

  /// The largest body, in bytes.
  var bodyBytesMax: Int { self == .voip ? 5120 : 4096 }

  /// Whether Apple documents a priority as an error for this type.
  func refuses(priority: Int) -> Bool {
    switch self {
    case .background: priority != 5
    case .liveactivity: priority == 1
    default: false
    }
  }

  /// The bundle identifier inside a topic of this type; nil when the suffix is not there.
  func bundle(inTopic topic: String) -> String? {
    guard topic.hasSuffix(topicSuffix) else { return nil }
    return String(topic.dropLast(topicSuffix.count))
  }
}
