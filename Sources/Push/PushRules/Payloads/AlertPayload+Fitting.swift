/// A payload that fits a byte limit, and what was cut to make it fit.
package struct FittedPayload: Equatable, Sendable {
  package let payload: AlertPayload
  /// The text that was shortened; nil when the payload fitted as it was.
  package let trimmed: TrimmedText?
  package let bytesBefore: Int
  package let bytesAfter: Int

  package var isTrimmed: Bool { trimmed != nil }
}

/// A text that may be shortened to make a push fit.
package enum TrimmedText: Equatable, Sendable {
  case body
  /// One of the arguments of a localised body, counted from 0.
  case bodyArgument(Int)
}

extension AlertPayload {
  /// The payload with as much of its body as a byte limit leaves room for.
  ///
  /// Cuts the body, or the longest argument of a localised one, between grapheme clusters and appends `...`. Everything else
  /// stays: the app relies on its data, the title names the sender, and the text behind a key is unknown here. The limit
  /// bounds the cost, except for one encoding of the whole and one cluster that is larger than the limit.
  /// - Parameter bytesMax: the largest document, in bytes; see ``PushType/bodyBytesMax``. With ``PreparedAlert``, fit
  ///   with the largest badge of all recipients.
  /// - Throws: `payloadTooLarge` when the document would not fit without that text, or would have nothing to show.
  package func fitted(to bytesMax: Int) throws(PushRequestError) -> FittedPayload {
    let bytesBefore = encoded().count
    guard bytesBefore > bytesMax else {
      return FittedPayload(payload: self, trimmed: nil, bytesBefore: bytesBefore, bytesAfter: bytesBefore)
    }
    guard let text = body?.trimmable else {
      throw PushRequestError(.payloadTooLarge, "\(bytesBefore) bytes and no text to shorten; \(bytesMax) are allowed")
    }
    guard let payload = shortened(text, to: bytesMax) ?? emptied(text, to: bytesMax) else {
      throw PushRequestError(
        .payloadTooLarge, "more than the \(bytesMax) bytes that are allowed, even without its text")
    }
    return FittedPayload(
      payload: payload, trimmed: text.place, bytesBefore: bytesBefore, bytesAfter: payload.encoded().count)
  }

  /// With the beginning of the text, possibly empty, and the continuation.
  private func shortened(_ text: TrimmableText, to bytesMax: Int) -> AlertPayload? {
    guard let rest = replacingBody(text.body(TrimmableText.continuation)) else { return nil }
    let room = bytesMax - rest.encoded().count
    guard room >= 0 else { return nil }
    return replacingBody(text.body(text.beginning(encodedBytesMax: room) + TrimmableText.continuation))
  }

  private func emptied(_ text: TrimmableText, to bytesMax: Int) -> AlertPayload? {
    replacingBody(text.body("")).flatMap { $0.encoded().count <= bytesMax ? $0 : nil }
  }

  /// The same with another body; nil when the device would then ignore the push.
  private func replacingBody(_ body: AlertText) -> AlertPayload? {
    var payload = self
    payload.body = body.unlessEmpty
    return payload.isNoticed ? payload : nil
  }
}

/// The part of a body that may be shortened: words, or an argument of a localised text.
private struct TrimmableText {
  static let continuation = "..."

  let place: TrimmedText
  let text: String
  /// The whole body with another text in this place.
  let body: (String) -> AlertText

  /// The longest beginning of whole grapheme clusters that takes at most so many bytes inside a JSON string.
  func beginning(encodedBytesMax: Int) -> String {
    text.beginning(bytesMax: encodedBytesMax, width: JSONEscape.width)
  }
}

extension AlertText {
  /// The words, or the longest argument, the first of equally long ones; nil for a key alone.
  fileprivate var trimmable: TrimmableText? {
    switch self {
    case .verbatim(let words):
      return TrimmableText(place: .body, text: words, body: AlertText.verbatim)
    case .localized(let key, let arguments, let words):
      let longest = arguments.indices.max { arguments[$0].utf8.count < arguments[$1].utf8.count }
      guard let longest else { return nil }
      return TrimmableText(place: .bodyArgument(longest), text: arguments[longest]) { text in
        var arguments = arguments
        arguments[longest] = text
        return .localized(key: key, arguments: arguments, words: words)
      }
    }
  }
}
