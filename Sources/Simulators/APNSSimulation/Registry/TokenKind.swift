/// The use of a token.
package enum TokenKind: Equatable, Sendable {
  /// Every push but those of Live Activities.
  case device
  /// Starts activities of one attributes type. `allowsUpdates` is whether the user then allows updates; nil for the
  /// conduct's choice.
  case pushToStart(attributesType: String, allowsUpdates: Bool?)
  /// Updates and ends one activity of an attributes type.
  case update(activity: String, attributesType: String)
}
