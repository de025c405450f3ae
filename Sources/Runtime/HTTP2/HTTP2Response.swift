/// A complete response.
public struct HTTP2Response: Sendable, Equatable {
  /// The final status, 200...599; informational responses are passed over.
  public let status: Int
  /// The fields without `:status`; trailers are not kept.
  public let fields: HTTP2Fields
  /// The whole body.
  public let body: [UInt8]
}
