/// The values of `apns-push-type`, each with its topic suffix and the limit of its body.
///
/// This table is independent of the product's own, so that a mistake there does not repeat here.
/// Source: "Sending notification requests to APNs" (Apple).
package enum SimulatedPushType: String, CaseIterable, Codable, Sendable {
  case alert
  /// Wakes the app in silence.
  case background
  /// Updates a watch face.
  case complication
  case controls
  case fileprovider
  case liveactivity
  case location
  /// Wakes a managed device.
  case mdm
  /// Wakes a walkie-talkie.
  case pushtotalk
  case voip
  case widgets

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

  var bodyBytesMax: Int { self == .voip ? 5120 : 4096 }

  /// Whether Apple documents a priority as an error for this type.
  func refuses(priority: Int) -> Bool {
    switch self {
    case .background: priority != 5
    case .liveactivity: priority == 1
    default: false
    }
  }

  /// The bundle identifier in a topic of this type; nil without the suffix.
  func bundle(inTopic topic: String) -> String? {
    guard topic.hasSuffix(topicSuffix) else { return nil }
    return String(topic.dropLast(topicSuffix.count))
  }
}
