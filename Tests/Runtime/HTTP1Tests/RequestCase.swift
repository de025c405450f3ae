@testable import HTTP1

let refusedRequests =
  refusedRequestLines + refusedTargets + refusedFields + refusedHosts + refusedFramings + refusedChunks
/// Every case of the tables.
let allCases = acceptedRequests + acceptedContents + refusedRequests + connectionCases

/// One stretch of input and what must come of it.
struct RequestCase: Sendable {
  /// Where the rule stands, as RFC and section, and what is special about the input.
  let rule: String
  let input: String
  /// The requests seen.
  var requests: [String] = []
  /// The statuses answered.
  var statuses: [Int] = []
  /// Why the connection closes; `nil` if it stays open.
  var close: CloseReason?
  /// Whether the client closes its side after the input.
  var endsWithClose = false

  /// The RFC and section alone.
  var section: String { String(rule.prefix { $0 != " " }) }

  /// A request that is processed and leaves the connection open.
  static func accepted(_ rule: String, _ input: String, _ requests: String...) -> RequestCase {
    RequestCase(rule: rule, input: input, requests: requests, statuses: requests.map { _ in 200 })
  }

  /// The same for a GET with these field lines.
  static func accepted(_ rule: String, fields: String) -> RequestCase {
    accepted(rule, "GET / HTTP/1.1\r\n\(fields)\r\n\r\n", "GET /")
  }

  /// The same for the target of a GET.
  static func accepted(_ rule: String, target: String) -> RequestCase {
    accepted(rule, "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n", "GET \(target)")
  }

  /// The same for chunked content.
  static func accepted(_ rule: String, chunks: String, content: String) -> RequestCase {
    accepted(rule, chunkedHead + chunks, content.isEmpty ? "POST /c" : "POST /c \(content)")
  }

  /// A request that is processed and after which the connection closes. What follows it must not be looked at.
  static func closing(_ rule: String, _ input: String, _ request: String) -> RequestCase {
    RequestCase(rule: rule, input: input + smuggled, requests: [request], statuses: [200], close: .answered)
  }

  /// A request that is refused. What follows it must not be looked at.
  static func refused(_ rule: String, _ status: Int, _ reason: RequestRefusal, _ input: String) -> RequestCase {
    RequestCase(rule: rule, input: input + smuggled, statuses: [status], close: .refused(reason))
  }

  /// The same for the target of a GET.
  static func refused(_ rule: String, _ status: Int, _ reason: RequestRefusal, target: String) -> RequestCase {
    refused(rule, status, reason, "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
  }

  /// The same for a POST with these field lines.
  static func refused(
    _ rule: String, _ status: Int, _ reason: RequestRefusal, fields: String, after: String = ""
  ) -> RequestCase {
    refused(rule, status, reason, "POST / HTTP/1.1\r\n\(fields)\r\n\r\n\(after)")
  }

  /// The same for chunked content.
  static func refused(_ rule: String, _ status: Int, _ reason: RequestRefusal, chunks: String) -> RequestCase {
    refused(rule, status, reason, chunkedHead + chunks)
  }

  static let chunkedHead = "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
  private static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
}
