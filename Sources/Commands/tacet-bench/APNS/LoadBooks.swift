import APNS
import APNSCore

/// What became of the pushes of a load.
struct LoadBooks: Sendable {
  /// Final answers by their status.
  private(set) var statuses: [Int: Int] = [:]
  /// Attempts without a final answer, by their reason.
  private(set) var failures: [String: Int] = [:]
  /// From the first attempt to the last's end, in nanoseconds, as the pushes ended.
  private(set) var latencies: [UInt64] = []
  var resends = 0
  var lost = 0

  init(expecting pushes: Int = 0) {
    latencies.reserveCapacity(pushes)
  }

  mutating func note(latency: UInt64) {
    latencies.append(latency)
  }

  /// Notes an attempt.
  /// - Returns: whether its answer is final; the service would try again otherwise.
  mutating func note(_ attempt: PushAttempt) -> Bool {
    if case .answered(let answer) = attempt, attempt.isFinal {
      statuses[answer.status, default: 0] += 1
      return true
    }
    failures[attempt.reason ?? "none", default: 0] += 1
    return false
  }
}

extension PushAttempt {
  fileprivate var isFinal: Bool {
    switch disposition {
    case .retryLater, .reconnect, .refreshProviderToken: false
    default: true
    }
  }
}
