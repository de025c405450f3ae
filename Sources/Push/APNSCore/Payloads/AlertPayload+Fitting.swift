extension AlertPayload: TrimmablePayload {
  /// The payload with as much of its body as a byte limit leaves room for.
  ///
  /// The body, or the longest argument of a localised one, is cut between grapheme clusters and gets `...`; nothing else
  /// is ever shortened. The cost is linear in the size of the payload.
  /// - Parameter bytesMax: the largest document, in bytes; see ``PushType/bodyBytesMax``. With ``PreparedAlert``, fit
  ///   with the largest badge of all recipients.
  /// - Throws: `payloadTooLarge` when the document would not fit without that text, or would have nothing to show.
  public func fitted(to bytesMax: Int) throws(PushRequestError) -> FittedPayload<AlertPayload> {
    try trimmed(to: bytesMax)
  }

  var trimmableBody: AlertText? { body }

  func replacingBody(_ body: AlertText) -> AlertPayload? {
    var payload = self
    payload.body = body.unlessEmpty
    return payload.isNoticed ? payload : nil
  }
}
