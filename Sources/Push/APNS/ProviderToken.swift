internal import Reactors

/// A signed statement of who pushes, shown with every request.
public struct ProviderToken: Sendable, Equatable {
  /// The header field's value: `bearer` and the token. A secret for an hour.
  let authorization: String

  /// Monotonic nanoseconds.
  let mintedAt: UInt64

  /// The claim `iat`: Unix seconds by this machine's wall clock.
  let issuedAt: Int64

  /// How old the token is, by the monotonic clock.
  public var age: Duration { .nanoseconds(Int64(Reactor.now &- mintedAt)) }

  /// How far the wall clock has been set since the token was signed; positive when forward, also by a machine that slept.
  func clockStep(wallSeconds: Int64) -> Duration { .seconds(wallSeconds - issuedAt) - age }
}
