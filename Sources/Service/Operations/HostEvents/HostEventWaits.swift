internal import HTTPTransfers
internal import PushRules
internal import PushStore

/// When an event is tried again that the host has not taken.
///
/// A host that is away is tried after 5 s, 20 s, 80 s, five minutes, 20 minutes, and then every hour. One that refuses an event will
/// not take it soon: it is tried after five minutes, twice as long each time, and then every six hours. A fifth is added or taken
/// away at random, so that events which failed together do not come together.
enum HostEventWaits {
  private static let base = Duration.seconds(5)
  private static let longest = Duration.seconds(3600)
  private static let refusedBase = Duration.seconds(300)
  private static let refusedLongest = Duration.seconds(6 * 3600)
  /// The longest wait that a host may ask for.
  static let askedLongest = Duration.seconds(24 * 3600)
  /// Statuses below 500 that another time may change: request timeout, too early, too many requests.
  private static let passing: Set<Int> = [408, 425, 429]

  /// What an answer means for an event.
  /// - Parameters:
  ///   - retryAfter, date: the answer's fields.
  ///   - attempt: attempts so far, from 1.
  ///   - now: Unix seconds.
  ///   - chance: from 0.8 to 1.2.
  static func judge(
    status: Int, retryAfter: String?, date: String?, attempt: Int, now: Int64, chance: Double
  ) -> HostEventAnswer {
    if (200..<300).contains(status) { return HostEventAnswer(status: status) }
    let isRefused = (300..<500).contains(status) && !passing.contains(status)
    let asked = RetryAfter.wait(retryAfter, date: date, atMost: askedLongest, now: now)
    let wait = wait(attempt: attempt, isRefused: isRefused, chance: chance)
    return HostEventAnswer(status: status, fault: "status \(status)", nextTry: max(wait, asked ?? .zero))
  }

  /// What an attempt without an answer means.
  static func judge(_ error: HTTPTransferError, attempt: Int, chance: Double) -> HostEventAnswer {
    HostEventAnswer(
      status: nil, fault: error.debugDescription, nextTry: wait(attempt: attempt, isRefused: false, chance: chance))
  }

  static func wait(attempt: Int, isRefused: Bool, chance: Double) -> Duration {
    let (base, factor, longest) = isRefused ? (refusedBase, 2, refusedLongest) : (base, 4, longest)
    // Beyond 16 doublings either has reached its longest.
    let wait = (1..<max(1, min(attempt, 16))).reduce(base) { wait, _ in min(wait * factor, longest) }
    return wait * chance
  }
}
