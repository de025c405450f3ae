extension LiveActivityPayload: TrimmablePayload {
  /// The payload with as much of its alert's body as a byte limit leaves room for.
  ///
  /// As ``AlertPayload/fitted(to:)``. Attributes and content state are never touched: they share the limit, and a device
  /// that cannot decode them shows nothing.
  /// - Parameter bytesMax: the largest document, in bytes; see ``PushType/bodyBytesMax``.
  /// - Throws: `payloadTooLarge` when the document would not fit without that text, or its alert would have none.
  public func fitted(to bytesMax: Int) throws(PushRequestError) -> FittedPayload<LiveActivityPayload> {
    try trimmed(to: bytesMax)
  }

  var trimmableBody: AlertText? { event.alert?.body }

  func replacingBody(_ body: AlertText) -> LiveActivityPayload? {
    guard let alert = event.alert?.replacingBody(body) else { return nil }
    var payload = self
    payload.event = event.replacingAlert(alert)
    return payload
  }
}

extension LiveActivityPayload.Event {
  fileprivate var alert: LiveActivityAlert? {
    switch self {
    case .start(let start): start.alert
    case .update(let update): update.alert
    case .end(let end): end.alert
    }
  }

  fileprivate func replacingAlert(_ alert: LiveActivityAlert) -> Self {
    switch self {
    case .start(var start):
      start.alert = alert
      return .start(start)
    case .update(var update):
      update.alert = alert
      return .update(update)
    case .end(var end):
      end.alert = alert
      return .end(end)
    }
  }
}
