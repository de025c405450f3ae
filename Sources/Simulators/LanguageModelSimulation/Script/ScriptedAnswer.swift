/// An answer of a simulated model.
public enum ScriptedAnswer: Sendable, Equatable {
  /// A reply with this text, cut off where the request's tokens end; nil makes one of the prompt's decision.
  case reply(String? = nil)
  /// The first half of such a reply, as if the tokens had ended there.
  case cut(String? = nil)
  /// The model will not write that.
  case refusal
  /// A failure with this status; `type` is the provider's usual word unless given, `fields` are header fields such as
  /// `retry-after`.
  case failure(status: Int, type: String? = nil, fields: [String: String] = [:])
  /// Content that is sent as it is, with the status 200.
  case raw(String)
  /// The connection is closed without a word.
  case close
  /// Nothing, until ``SimulatedModel/release()``; then a reply.
  case hang

  /// The word for it in scripts.
  var kind: Kind {
    switch self {
    case .reply: .reply
    case .cut: .cut
    case .refusal: .refusal
    case .failure: .failure
    case .raw: .raw
    case .close: .close
    case .hang: .hang
    }
  }

  /// The kinds as scripts name them.
  enum Kind: String, Codable, CaseIterable {
    case reply, cut, refusal, failure, raw, close, hang
  }
}
