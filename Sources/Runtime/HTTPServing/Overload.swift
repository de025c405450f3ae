internal import HTTP1
internal import HTTPTypes

/// What is answered when there are too many; made once, since it is needed most when time is short.
enum Overload {
  /// Seconds for Retry-After: connections are short, so a second later there is room or there is an attack.
  private static let retryAfterSeconds = "1"

  /// The service has as many connections as it may have.
  static let serviceFull = response(.serviceUnavailable, "The service has too many connections.")

  /// The peer has as many connections or requests as it may have (RFC 6585 section 4).
  static let clientFull = response(.tooManyRequests, "Too many connections come from this address.")

  private static func response(_ status: HTTPResponse.Status, _ detail: String) -> PreparedResponse {
    let problem = ProblemDetails(status, detail: detail, fields: [.retryAfter: retryAfterSeconds])
    return problem.response.prepared
  }
}
