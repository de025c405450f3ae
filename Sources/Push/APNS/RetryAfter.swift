internal import APNSCore

/// How long an answer asks to be left alone, as its `retry-after` says (RFC 9110 §10.2.3). APNs documents none; proxies and
/// gateways before it send it.
enum RetryAfter {
  /// The longest that is believed: Apple's own wait after a fault of its service. What asks for more is asked again then.
  static let longest = PushDisposition.serviceFaultWait

  /// - Parameters:
  ///   - text: seconds in digits, or a date; anything else asks for nothing.
  ///   - date: the answer's own `date`, which a date counts from: no two clocks are compared.
  static func wait(_ text: String?, date: String?) -> Duration? {
    guard let text, !text.isEmpty else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return min(Int64(text).map { .seconds($0) } ?? longest, longest)
    }
    guard let end = ClockDifference(date: text, now: 0), let now = date.flatMap({ ClockDifference(date: $0, now: 0) })
    else { return nil }
    return max(.zero, min(.seconds(now.seconds - end.seconds), longest))
  }
}
