internal import Reactors

/// The provider token that one connection shows; it changes seldom, whatever the process holds.
struct ShownToken {
  private(set) var token: ProviderToken
  private var shownSince: UInt64

  /// Whether the connection has shown another one before.
  private(set) var hasChanged = false

  init(_ token: ProviderToken, now: UInt64 = Reactor.now) {
    self.token = token
    shownSince = now
  }

  /// Moves to a newer token once the present one has been shown for long enough.
  mutating func adopt(_ newest: ProviderToken, now: @autoclosure () -> UInt64 = Reactor.now) {
    guard newest != token else { return }
    let now = now()
    guard ProviderTokenSchedule.mayReplace(age: .nanoseconds(Int64(now &- shownSince))) else { return }
    token = newest
    shownSince = now
    hasChanged = true
  }
}
