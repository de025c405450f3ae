import Testing

/// One stretch of input and what must come of it.
struct RequestCase: CustomTestStringConvertible, Sendable {
  /// Where the rule stands.
  let rule: String
  let input: String
  /// The requests seen.
  var requests: [String] = []
  /// The statuses answered.
  var statuses: [Int] = []
  var staysOpen = false

  var testDescription: String { "\(rule): \(input.prefix(70).debugDescription)" }

  /// A request that is processed and leaves the connection open.
  static func accepted(_ rule: String, _ input: String, _ requests: String...) -> RequestCase {
    RequestCase(rule: rule, input: input, requests: requests, statuses: requests.map { _ in 200 }, staysOpen: true)
  }

  /// A request that is processed and after which the connection closes.
  static func closing(_ rule: String, _ input: String, _ request: String) -> RequestCase {
    RequestCase(rule: rule, input: input, requests: [request], statuses: [200])
  }

  /// A request that is refused. What follows it must not be looked at.
  static func refused(_ rule: String, _ status: Int, _ input: String) -> RequestCase {
    RequestCase(rule: rule, input: input + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n", statuses: [status])
  }

  /// The same for a request with these field lines.
  static func refused(_ rule: String, _ status: Int, fields: String, after: String = "") -> RequestCase {
    refused(rule, status, "POST / HTTP/1.1\r\n\(fields)\r\n\r\n\(after)")
  }

  /// The same for chunked content.
  static func refused(_ rule: String, _ status: Int, chunks: String) -> RequestCase {
    refused(rule, status, chunkedHead + chunks)
  }

  static let chunkedHead = "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
}
