internal import HTTPTypes

/// What a provider says of coming again: that it makes sense, and when.
struct RetryAdvice: Equatable {
  /// From the answer on; never negative.
  let wait: Duration

  /// Nil unless the answer says when. Anthropic and OpenAI both say in `x-should-retry` whether it makes sense at all,
  /// and in `retry-after-ms` more precisely what `retry-after` says in seconds; their own libraries read all three.
  /// - Parameter now: Unix seconds.
  init?(status: Int, _ fields: HTTPFields, now: Double) {
    guard Self.mayPass(status), fields[.xShouldRetry]?.lowercased() != "false",
      let seconds = Self.milliseconds(fields).map({ $0 / 1000 }) ?? Self.seconds(fields, now: now)
    else { return nil }
    // A year is as good as never, and no overflow.
    wait = .seconds(min(max(0, seconds), 31_536_000))
  }

  /// Whether another answer to the same request can be expected: of what is wrong with the request itself it cannot.
  private static func mayPass(_ status: Int) -> Bool { [408, 409, 429].contains(status) || status >= 500 }

  private static func milliseconds(_ fields: HTTPFields) -> Double? {
    fields[.retryAfterMilliseconds].flatMap(number)
  }

  /// Seconds, or a date (RFC 9110 section 10.2.3), which is compared with that of the answer where it has one, since
  /// two clocks may differ by more than the wait.
  private static func seconds(_ fields: HTTPFields, now: Double) -> Double? {
    guard let text = fields[.retryAfter] else { return nil }
    if let seconds = number(text) { return seconds }
    guard let then = FixedDate(text) else { return nil }
    let answered = fields[.date].flatMap { FixedDate($0) }
    return then.unixSeconds - (answered?.unixSeconds ?? now)
  }

  /// Digits and at most one point: no sign, no exponent, no infinity.
  private static func number(_ text: String) -> Double? {
    text.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") } ? Double(text) : nil
  }
}

extension HTTPField.Name {
  fileprivate static let retryAfterMilliseconds = HTTPField.Name("retry-after-ms")!
  fileprivate static let xShouldRetry = HTTPField.Name("x-should-retry")!
}
