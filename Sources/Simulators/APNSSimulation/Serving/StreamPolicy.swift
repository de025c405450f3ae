/// How many pushes a connection may have in flight, and what its behaviour does to that number.
public struct StreamPolicy: Equatable, Sendable {
  /// Streams that a trusted connection may have open at once. 1000 is what was last seen of the real service (2021).
  public var streamsMax = 1000
  /// Whether a connection has one stream until its first push was accepted.
  public var startsWithOne = true
  /// Whether a refusal other than 410 takes the streams down to one, until the next push is accepted.
  public var dropsAfterRefusal = true
  /// Whether streams over the limit are refused; otherwise the limit is only announced.
  public var refusesExcess = true
  /// `BadDeviceToken` answers without a success between them that end a connection; nil never does. The real number is
  /// unpublished.
  public var badTokensMax: Int? = 20

  /// The usual conduct.
  public init() {}
}
