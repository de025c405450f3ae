import PushRules

/// The document as text, to be compared with what is expected byte for byte.
func text(_ payload: some PushPayload) -> String {
  String(decoding: payload.encoded(), as: UTF8.self)
}
