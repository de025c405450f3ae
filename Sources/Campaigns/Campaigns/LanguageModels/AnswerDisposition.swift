internal import FoundationEssentials
internal import HTTPTransfers
internal import HTTPTypes

/// The meaning of a provider's response.
enum AnswerDisposition {
  case reply(text: String, usage: LanguageModelUsage?)
  /// No reply, and a retry will not help.
  case failure(LanguageModelError)
  /// No reply, but a retry may succeed after this wait.
  case retry(after: Duration, LanguageModelError)

  /// Reads a response.
  /// - Parameter now: Unix seconds.
  init(_ response: HTTPTransferResponse, _ dialect: any ModelDialect.Type, now: Double) {
    guard response.status.kind == .successful else {
      let error = Self.refusal(response, dialect)
      let advice = RetryAdvice(status: response.status.code, response.fields, now: now)
      self = advice.map { .retry(after: $0.wait, error) } ?? .failure(error)
      return
    }
    do {
      self.init(try dialect.answer(Data(response.body)), status: response.status.code)
    } catch {
      self = .failure(LanguageModelError(.unusableReply, status: response.status.code))
    }
  }

  private init(_ answer: ModelAnswer, status: Int) {
    let code: LanguageModelError.Code? =
      switch answer.ending {
      case .cutOff: .truncatedReply
      case .declined: .declined
      case .complete: answer.text.allSatisfy(\.isWhitespace) ? .unusableReply : nil
      }
    self =
      code.map { .failure(LanguageModelError($0, status: status, usage: answer.usage)) }
      ?? .reply(text: answer.text, usage: answer.usage)
  }

  private static func refusal(
    _ response: HTTPTransferResponse, _ dialect: any ModelDialect.Type
  ) -> LanguageModelError {
    let type = dialect.failureType(Data(response.body)).flatMap { $0.wholeMatch(of: /[a-z_]{1,64}/) == nil ? nil : $0 }
    return LanguageModelError(code(of: response.status.code), status: response.status.code, providerType: type)
  }

  private static func code(of status: Int) -> LanguageModelError.Code {
    switch status {
    case 429: .rateLimited
    case 503, 529: .overloaded
    case 500...: .serverFailure
    case 400...: .refusedRequest
    default: .unusableReply
    }
  }
}

struct RetryAdvice: Equatable {
  /// From the response on; never negative.
  let wait: Duration

  /// Nil unless the response says when to retry. Anthropic and OpenAI say in `x-should-retry` whether a retry helps,
  /// and in `retry-after-ms` what `retry-after` says in whole seconds. Their own libraries read all three.
  /// - Parameter now: Unix seconds.
  init?(status: Int, _ fields: HTTPFields, now: Double) {
    guard Self.mayPass(status), fields[.xShouldRetry]?.lowercased() != "false",
      let seconds = Self.milliseconds(fields).map({ $0 / 1000 }) ?? Self.seconds(fields, now: now)
    else { return nil }
    // A year means never, without overflow.
    wait = .seconds(min(max(0, seconds), 31_536_000))
  }

  /// Whether the same request may succeed later. A mistake in the request itself stays.
  private static func mayPass(_ status: Int) -> Bool { [408, 409, 429].contains(status) || status >= 500 }

  private static func milliseconds(_ fields: HTTPFields) -> Double? {
    fields[.retryAfterMilliseconds].flatMap(number)
  }

  /// Seconds, or a date (RFC 9110 section 10.2.3). A date is compared with the response's own date if it has one,
  /// because two clocks may differ by more than the wait.
  private static func seconds(_ fields: HTTPFields, now: Double) -> Double? {
    guard let text = fields[.retryAfter] else { return nil }
    if let seconds = number(text) { return seconds }
    guard let then = FixedDate(text) else { return nil }
    let answered = fields[.date].flatMap { FixedDate($0) }
    return then.unixSeconds - (answered?.unixSeconds ?? now)
  }

  /// Digits with at most one point; no sign, exponent or infinity.
  private static func number(_ text: String) -> Double? {
    text.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") } ? Double(text) : nil
  }
}

extension HTTPField.Name {
  fileprivate static let retryAfterMilliseconds = HTTPField.Name("retry-after-ms")!
  fileprivate static let xShouldRetry = HTTPField.Name("x-should-retry")!
}

/// An HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT`, the preferred form of RFC 9110 section 5.6.7. The two obsolete forms
/// are not read.
struct FixedDate {
  /// Since 1970.
  let unixSeconds: Double

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Nil for any other form, and for a date that does not exist.
  init?(_ text: String) {
    guard let parts = text.wholeMatch(of: /[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d:\d\d:\d\d) GMT/),
      let month = Self.months.firstIndex(of: String(parts.2))
    else { return nil }
    let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
    guard let date = try? Date("\(parts.3)-\(number)-\(parts.1)T\(parts.4)Z", strategy: .iso8601) else { return nil }
    unixSeconds = date.timeIntervalSince1970
  }
}
