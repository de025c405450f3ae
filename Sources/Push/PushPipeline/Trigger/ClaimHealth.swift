internal import Postgres
internal import Reactors

/// Whether claims bring what waits: the last time that the database answered one, and since when it refuses them.
///
/// A value: time comes in as monotonic nanoseconds.
struct ClaimHealth {
  /// How old the last answer may be. An idle pipeline asks once a second.
  static let ageMax = Duration.seconds(3)

  private let startedAt: UInt64
  private var answeredAt: UInt64?
  private var failure: (code: String, since: UInt64)?

  init(now: UInt64) { startedAt = now }

  /// The database has answered a look.
  mutating func answered(now: UInt64) { answeredAt = now }

  /// A look failed.
  mutating func failed(_ error: PostgresError, now: UInt64) {
    failure = (error.description, failure?.since ?? now)
  }

  /// Nothing fails any more.
  mutating func recovered() { failure = nil }

  /// How long claims have not worked, 0 to about a second while they do.
  func age(now: UInt64) -> Duration {
    let since = min(answeredAt ?? startedAt, failure?.since ?? .max)
    return .nanoseconds(Int64(clamping: now - min(now, since)))
  }

  /// Why claims are not known to work, for anybody to see; nil when they do.
  func fault(now: UInt64) -> String? {
    if answeredAt == nil, failure == nil { return "nothing has been claimed yet" }
    let age = age(now: now)
    guard age > Self.ageMax else { return nil }
    let reason = failure?.code ?? "the database does not answer"
    return "no claim has worked for \(age.components.seconds) s: \(reason)"
  }
}
