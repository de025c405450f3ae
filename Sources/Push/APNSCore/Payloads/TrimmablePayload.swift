/// A payload whose body may be shortened to make it fit.
///
/// Nothing but the body ever is: the app relies on its data, the title says who it is from, and what a key stands for
/// is not known here. Of a localised body it is the longest argument, which is where the user's words are.
protocol TrimmablePayload: PushPayload {
  /// The body; nil when there is none.
  var trimmableBody: AlertText? { get }

  /// The same with another body; nil when that would be a push which cannot be built.
  func replacingBody(_ body: AlertText) -> Self?
}

extension TrimmablePayload {
  /// The payload with as much of its body as a byte limit leaves room for.
  ///
  /// The cost is bounded by the limit, except for one encoding of the whole and one look at a cluster that is larger
  /// than the limit.
  /// - Throws: `payloadTooLarge` when the document would not fit without the text either.
  func trimmed(to bytesMax: Int) throws(PushRequestError) -> FittedPayload<Self> {
    let bytesBefore = encoded().count
    guard bytesBefore > bytesMax else {
      return FittedPayload(payload: self, trimmed: nil, bytesBefore: bytesBefore, bytesAfter: bytesBefore)
    }
    guard let text = trimmableBody?.trimmable else {
      throw PushRequestError(.payloadTooLarge, "\(bytesBefore) bytes and no text to shorten; \(bytesMax) are allowed")
    }
    guard let payload = shortened(text, to: bytesMax) ?? emptied(text, to: bytesMax) else {
      throw PushRequestError(
        .payloadTooLarge, "more than the \(bytesMax) bytes that are allowed, even without its text")
    }
    return FittedPayload(
      payload: payload, trimmed: text.place, bytesBefore: bytesBefore, bytesAfter: payload.encoded().count)
  }

  /// With a beginning of the text, which may be none of it, and the continuation.
  private func shortened(_ text: TrimmableText, to bytesMax: Int) -> Self? {
    guard let rest = replacingBody(text.body(TrimmableText.continuation)) else { return nil }
    let room = bytesMax - rest.encoded().count
    guard room >= 0 else { return nil }
    return replacingBody(text.body(text.beginning(encodedBytesMax: room) + TrimmableText.continuation))
  }

  /// Without the text.
  private func emptied(_ text: TrimmableText, to bytesMax: Int) -> Self? {
    replacingBody(text.body("")).flatMap { $0.encoded().count <= bytesMax ? $0 : nil }
  }
}
