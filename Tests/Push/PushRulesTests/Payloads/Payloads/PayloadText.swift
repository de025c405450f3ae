import PushRules

/// The document as text, to be compared with what is expected byte for byte.
func text(_ payload: some PushPayload) -> String {
  String(decoding: payload.encoded(), as: UTF8.self)
}

extension AlertText {
  /// The words; nil of a localised text.
  var words: String? {
    if case .verbatim(let words) = self { words } else { nil }
  }
}
