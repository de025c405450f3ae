internal import Reactors

/// A signed statement of who pushes, shown with every request.
public struct ProviderToken: Sendable, Equatable {
  /// The header field's value: `bearer` and the token. A secret for an hour.
  let authorization: String

  /// Monotonic nanoseconds.
  let mintedAt: UInt64

  /// How old the token is, by the monotonic clock.
  public var age: Duration { .nanoseconds(Int64(Reactor.now &- mintedAt)) }
}
