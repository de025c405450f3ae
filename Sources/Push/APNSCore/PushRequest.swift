/// One push, ready to be sent: `POST` of the body to the head's path.
public struct PushRequest: Equatable, Sendable {
  /// The path and the header fields.
  public let head: PushRequestHead
  /// The JSON document, UTF-8, uncompressed.
  public let body: [UInt8]

  /// Joins a head and a body that fits its push type.
  ///
  /// - Throws: `payloadEmpty` or `payloadTooLarge`, as APNs would answer.
  public init(head: PushRequestHead, body: [UInt8]) throws(PushRequestError) {
    guard !body.isEmpty else { throw PushRequestError(.payloadEmpty, "a push needs a body") }
    guard body.count <= head.pushType.bodyBytesMax else {
      throw PushRequestError(
        .payloadTooLarge,
        "\(body.count) bytes; a push of type \(head.pushType.rawValue) takes \(head.pushType.bodyBytesMax)")
    }
    self.head = head
    self.body = body
  }
}
