internal import Reactors

/// Device tokens that were refused while nobody could tell whether they are bad: nothing is sent to them for a while.
///
/// APNs closes connections that keep showing it tokens it does not know. Who is released is tried again, and judged by
/// how the route is doing then. Time comes in as monotonic nanoseconds.
struct TokenQuarantine: Sendable {
  /// How long a token stays. An hour is a message's life: what arrives after it is another one.
  static let stay = Duration.seconds(3600)

  /// Tokens at the most, some two megabytes. Those beyond it are sent to as before.
  static let devicesMax = 10_000

  private struct Entry {
    let reason: String?
    let releasedAt: UInt64
  }

  private var entries: [String: Entry] = [:]

  var count: Int { entries.count }

  /// Whether a token is kept at the moment.
  func holds(_ device: String, now: UInt64) -> Bool {
    entries[device].map { now < $0.releasedAt } ?? false
  }

  /// Why a token is kept, in APNs' word.
  func reason(for device: String) -> String? { entries[device]?.reason }

  mutating func add(_ device: String, reason: String?, now: UInt64) {
    if entries.count >= Self.devicesMax { entries = entries.filter { now < $0.value.releasedAt } }
    guard entries.count < Self.devicesMax else { return }
    entries[device] = Entry(reason: reason, releasedAt: now &+ Self.stay.clampedNanoseconds)
  }

  /// Releases one. Those that were there are released as well if it was: APNs refused it before and takes it now, so the
  /// refusals were none of the tokens' fault.
  mutating func accepted(_ device: String) {
    guard !entries.isEmpty, entries[device] != nil else { return }
    entries = [:]
  }
}
