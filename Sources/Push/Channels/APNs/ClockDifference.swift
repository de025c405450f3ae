internal import FoundationEssentials
internal import PushRules

/// How far this machine's clock is from that of APNs, by the `date` field of an answer.
struct ClockDifference: Equatable {
  /// Differences worth a log line, in seconds; less is the age of the answer, or ordinary drift.
  private static let notableSeconds: Int64 = 60

  /// Positive when this machine is ahead.
  let seconds: Int64

  var isNotable: Bool { abs(seconds) >= Self.notableSeconds }

  var words: String {
    "this machine's clock is \(abs(seconds)) s \(seconds < 0 ? "behind" : "ahead of") that of APNs"
  }

  /// This machine's wall clock, in Unix seconds.
  static var wallSeconds: Int64 { Int64(Date().timeIntervalSince1970) }
}

extension ClockDifference {
  /// Compares with an answer's date.
  /// - Parameters:
  ///   - date: an IMF-fixdate (RFC 9110 §5.6.7), `Sun, 06 Nov 1994 08:49:37 GMT`; any other text gives nil.
  ///   - now: Unix seconds.
  init?(date: String, now: Int64) {
    guard let seconds = RetryAfter.unixSeconds(date) else { return nil }
    self.seconds = now - seconds
  }
}

extension RetryAfter {
  /// The wait of an answer's fields, at most Apple's own after a fault of its service. APNs does not document the field; proxies and
  /// gateways in front of APNs send it.
  static func wait(_ text: String?, date: String?) -> Duration? {
    wait(text, date: date, atMost: PushDisposition.serviceFaultWait)
  }
}
