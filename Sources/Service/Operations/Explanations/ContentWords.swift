internal import PushRules

/// How much of the event's words a push had.
enum ContentWords {
  /// Follows "accepted the push".
  static func form(_ note: String) -> String {
    guard let known = ContentNote(rawValue: note) else { return "with content \(note)" }
    return switch known {
    case .sender: "with the sender's name alone"
    case .none: "without content"
    case .sealed: "sealed for the device"
    case .noKey: "without content, because the device has no key to seal it for"
    }
  }
}
