/// A server's announcement that it will take no more streams (RFC 9113 §6.8).
public struct HTTP2GoAway: Equatable, Sendable {
  /// Streams above this were not and will not be processed; `Int32.max` announces a second GOAWAY.
  public let lastStreamID: Int32
  /// Why.
  public let code: HTTP2ErrorCode
  /// Opaque bytes, often text: APNs sends JSON with a `reason`. At most 4,096 bytes are kept.
  public let debugData: [UInt8]

  static let debugDataBytesMax = 4096
}
