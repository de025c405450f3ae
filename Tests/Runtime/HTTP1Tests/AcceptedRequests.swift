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

private let get = "GET / HTTP/1.1\r\n"
private let host = "Host: a\r\n\r\n"

/// Requests that must be processed, each with the rule that says so.
let acceptedRequests: [RequestCase] = acceptedLines + acceptedTargets + acceptedFields + acceptedHosts

private let acceptedLines: [RequestCase] = [
  .accepted("9112-3", "GET / HTTP/1.1\r\n" + host, "GET /"),
  .accepted("9112-2.2 an empty line before", "\r\nGET / HTTP/1.1\r\n" + host, "GET /"),
  .accepted("9112-2.2 an empty line between", get + host + "\r\n" + get + host, "GET /", "GET /"),
  .accepted("9112-2.2 an empty line after", get + host + "\r\n", "GET /"),
  .accepted("9110-9.1 any token", "BREW-X!#$%&'*+.^_`|~9 / HTTP/1.1\r\n" + host, "BREW-X!#$%&'*+.^_`|~9 /"),
  .accepted("9110-9.1 case counts", "get / HTTP/1.1\r\n" + host, "get /"),
  .accepted("9110-9.1 one letter", "X / HTTP/1.1\r\n" + host, "X /"),
  .accepted("9110-9.1 begins like another", "GETS / HTTP/1.1\r\n" + host, "GETS /"),
  .accepted(
    "9110-9.1 long name", "\(String(repeating: "M", count: 100)) / HTTP/1.1\r\n" + host,
    "\(String(repeating: "M", count: 100)) /"),
  .accepted("9110-9.3.2 HEAD", "HEAD / HTTP/1.1\r\n" + host + get + host, "HEAD /", "GET /"),
  .accepted("9110-9.3.4 PUT", "PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\ny", "PUT /x y"),
  .accepted("9110-9.3.5 DELETE", "DELETE /x HTTP/1.1\r\n" + host, "DELETE /x"),
  .accepted("9110-9.3.7 OPTIONS of a path", "OPTIONS /x HTTP/1.1\r\n" + host, "OPTIONS /x"),
  .accepted(
    "9110-9.3.7 OPTIONS with content", "OPTIONS * HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\ny",
    "OPTIONS * y"),
  .accepted("9110-9.3.8 TRACE is another's to refuse", "TRACE / HTTP/1.1\r\n" + host, "TRACE /"),
  .accepted("9110-9.3.6 case of CONNECT counts", "connect / HTTP/1.1\r\n" + host, "connect /"),
  .accepted("9110-2.5 higher minor", "GET / HTTP/1.9\r\n" + host, "GET /"),
  .accepted("9110-2.5 next minor", "GET / HTTP/1.2\r\n" + host, "GET /"),
]

private let acceptedTargets: [RequestCase] = [
  .accepted("9112-3.2.1 every path character", target: "/a/b;c=1,2:@!$&'()*+~-._?x=/?:@"),
  .accepted("9112-3.2.1 empty query", target: "/?"),
  .accepted("9112-3.2.1 question marks", target: "/??"),
  .accepted("9112-3.2.1 empty segments", target: "//a//"),
  .accepted("9112-3.2.1 like a scheme", target: "/http://b/"),
  .accepted("9112-3.2.1 like an asterisk", target: "/*"),
  .accepted("3986-2.1", target: "/%2F%c3%A9?%20"),
  .accepted("3986-2.1 the last encoding", target: "/%FF"),
  .accepted("3986-2.1 encoded percent sign", target: "/%2500"),
  .accepted("3986-2.1 encoded line end is only text", target: "/%0d%0a"),
  .accepted("3986-3.3 three dots", target: "/..."),
  .accepted("3986-3.3 a hidden name", target: "/.well-known/x"),
  .accepted("3986-3.3 dots inside", target: "/a..b/c."),
  .accepted("3986-3.3 dots before an encoding", target: "/..%2f"),
  .accepted("3986-3.3 dots with a parameter", target: "/..;a"),
  .accepted("3986-3.4 dot segments in the query", target: "/?/../."),
  .accepted("9112-3.2.2", "GET http://b.example/x HTTP/1.1\r\n" + host, "GET http://b.example/x"),
  .accepted("9112-3.2.2 scheme case", target: "HTTP://b/"),
  .accepted("9112-3.2.2 no path", target: "http://b"),
  .accepted("9112-3.2.2 query", target: "http://b?q"),
  .accepted("9112-3.2.2 port", target: "http://b:8080/"),
  .accepted("9112-3.2.2 literal", target: "http://[::1]:8080/"),
  .accepted("9112-3.2.4", "OPTIONS * HTTP/1.1\r\n" + host, "OPTIONS *"),
  .accepted("9112-3.2.4 as an absolute form", "OPTIONS http://b:80 HTTP/1.1\r\n" + host, "OPTIONS http://b:80"),
]

private let acceptedFields: [RequestCase] = [
  .accepted("9110-5.1 name case", fields: "hOsT: a"),
  .accepted("9110-5.1 token name", fields: "Host: a\r\n!#$%&'*+-.^_`|~09: b"),
  .accepted("9110-5.1 names like control fields", fields: "Host: a\r\nContent_Length: 9\r\nTransfer-Encodin: chunked"),
  .accepted("9110-5.1 a name of the same length", fields: "Host: a\r\nCost: b\r\nContent-Lentil: 9"),
  .accepted("9110-5.3 repeated", fields: "Host: a\r\nX: 1\r\nX: 2"),
  .accepted("9110-5.3 Host last", fields: "X: 1\r\nHost: a"),
  .accepted("9110-5.5 obsolete text", fields: "Host: a\r\nX: \u{e9}"),
  .accepted("9110-5.5 inner tab", fields: "Host: a\r\nX: b\tc"),
  .accepted("9110-5.5 colons", fields: "Host: a\r\nX: b: c:"),
  .accepted("9110-5.5 quotes are not read", fields: "Host: a\r\nX: \"b\\"),
  .accepted("9112-5 no blank", fields: "Host:a"),
  .accepted("9112-5 many blanks", fields: "Host: \t a \t "),
  .accepted("9112-5 empty value", fields: "Host: a\r\nX-Empty:"),
  .accepted("9112-5 blanks only", fields: "Host: a\r\nX-Empty: \t "),
  .accepted("6585-5 as many as allowed", fields: "Host: a" + String(repeating: "\r\nX: y", count: 99)),
  .accepted("9110-7.6.1 other options", fields: "Host: a\r\nConnection: upgrade\r\nUpgrade: h2c"),
  .accepted("9110-7.6.1 empty list", fields: "Host: a\r\nConnection:"),
  .accepted("9110-7.6.1 naming a field changes nothing", fields: "Host: a\r\nConnection: host, content-length"),
  .accepted("9110-7.6.1 like close", fields: "Host: a\r\nConnection: closed, clos"),
  .accepted("9112-7.4 TE asks for nothing", fields: "Host: a\r\nTE: trailers, gzip;q=0.5\r\nConnection: TE"),
  .accepted("9110-7.8 no upgrade", fields: "Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket"),
  .accepted("9110-6.6.2 announced trailers", fields: "Host: a\r\nTrailer: X-Sum"),
]

private let acceptedHosts: [RequestCase] = [
  .accepted("9110-7.2 port", fields: "Host: a.example:65535"),
  .accepted("9110-7.2 IPv4", fields: "Host: 192.0.2.1:80"),
  .accepted("3986-3.2.3 empty port", fields: "Host: a:"),
  .accepted("3986-3.2.3 port zero", fields: "Host: a:0"),
  .accepted("3986-3.2.2 unreserved", fields: "Host: A-z_0~.b"),
  .accepted("3986-3.2.2 delimiters", fields: "Host: a=b"),
  .accepted("3986-3.2.2 every delimiter", fields: "Host: !$&'()*+,;=:80"),
  .accepted("3986-3.2.2 encoded name", fields: "Host: %61%Ff"),
  .accepted("3986-3.2.2 dots only", fields: "Host: .."),
  .accepted("3986-3.2.2 final dot", fields: "Host: a.example."),
  .accepted("3986-3.2.2 literal", fields: "Host: [::1]:80"),
  .accepted("3986-3.2.2 literal alone", fields: "Host: [2001:db8::1]"),
  .accepted("3986-3.2.2 the unspecified address", fields: "Host: [::]"),
  .accepted("3986-3.2.2 eight groups", fields: "Host: [1:2:3:4:5:6:7:8]"),
  .accepted("3986-3.2.2 seven and a gap", fields: "Host: [1:2:3:4:5:6:7::]"),
  .accepted("3986-3.2.2 gap and seven", fields: "Host: [::2:3:4:5:6:7:8]"),
  .accepted("3986-3.2.2 digits of a group", fields: "Host: [ABCD::0123]"),
  .accepted("3986-3.2.2 v4 in v6", fields: "Host: [::ffff:1.2.3.4]"),
  .accepted("3986-3.2.2 six groups and v4", fields: "Host: [1:2:3:4:5:6:255.255.255.255]"),
]

private func post(_ fields: String, _ content: String = "") -> String {
  "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n\(content)"
}

/// Requests with content that must be processed, each with the rule that says so.
let acceptedContents: [RequestCase] = acceptedLengths + acceptedChunks

private let acceptedLengths: [RequestCase] = [
  .accepted("9110-8.6 zero", post("Content-Length: 0"), "POST /"),
  .accepted("9110-8.6 zeros", post("Content-Length: 000"), "POST /"),
  .accepted("9110-8.6", post("Content-Length: 5", "hello"), "POST / hello"),
  .accepted("9110-8.6 blanks around", post("Content-Length: \t5 ", "hello"), "POST / hello"),
  .accepted("9110-8.6 leading zero", post("Content-Length: 005", "hello"), "POST / hello"),
  .accepted("9110-8.6 name case", post("CONTENT-length: 5", "hello"), "POST / hello"),
  .accepted(
    "9110-8.6 as much as allowed", post("Content-Length: 64", String(repeating: "x", count: 64)),
    "POST / " + String(repeating: "x", count: 64)),
  .accepted(
    "9110-8.6 content may look like a request", post("Content-Length: 18", "GET / HTTP/1.1\r\n\r\n"),
    "POST / GET / HTTP/1.1\r\n\r\n"),
  .accepted(
    "9110-8.6 content may be control characters", post("Content-Length: 4", "\0\r\n\u{7f}"),
    "POST / \0\r\n\u{7f}"),
  .accepted("9110-9.3.1 GET with content", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi", "GET / hi"),
  .accepted(
    "9110-9.3.2 HEAD with content", "HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi" + get + host,
    "HEAD / hi", "GET /"),
  .accepted("9112-6.3 no framing", "POST / HTTP/1.1\r\nHost: a\r\n\r\n" + get + host, "POST /", "GET /"),
]

private let acceptedChunks: [RequestCase] = [
  .accepted("9112-7.1", chunks: "5\r\nhello\r\n0\r\n\r\n", content: "hello"),
  .accepted("9112-7.1 several", chunks: "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", content: "hello"),
  .accepted(
    "9112-7.1 hex", chunks: "0a\r\n0123456789\r\n0A\r\nabcdefghij\r\n000\r\n\r\n",
    content: "0123456789abcdefghij"),
  .accepted("9112-7.1 fifteen digits", chunks: "000000000000001\r\nx\r\n000000000000000\r\n\r\n", content: "x"),
  .accepted("9112-7.1 empty", chunks: "0\r\n\r\n", content: ""),
  .accepted(
    "9112-7.1 as much as allowed", chunks: "40\r\n\(String(repeating: "x", count: 64))\r\n0\r\n\r\n",
    content: String(repeating: "x", count: 64)),
  .accepted("9112-7.1 data may hold line ends", chunks: "4\r\n\r\n0\r\r\n0\r\n\r\n", content: "\r\n0\r"),
  .accepted("9112-7.1 data may look like the end", chunks: "5\r\n0\r\n\r\n\r\n0\r\n\r\n", content: "0\r\n\r\n"),
  .accepted("9112-7.1.1", chunks: "1;a;b=c;d=\"e;\\\"\"\r\nx\r\n0;z\r\n\r\n", content: "x"),
  .accepted("9112-7.1.1 blanks", chunks: "1 ; a = b\r\nx\r\n0\r\n\r\n", content: "x"),
  .accepted("9112-7.1.1 tabs", chunks: "1\t;\ta\t=\t\"b\"\r\nx\r\n0\r\n\r\n", content: "x"),
  .accepted("9112-7.1.1 empty quotes", chunks: "1;a=\"\"\r\nx\r\n0\r\n\r\n", content: "x"),
  .accepted("9112-7.1.1 obsolete text in quotes", chunks: "1;a=\"\u{e9}\"\r\nx\r\n0\r\n\r\n", content: "x"),
  .accepted(
    "9112-7.1.1 a line of the limit", chunks: "1;\(String(repeating: "e", count: 254))\r\nx\r\n0\r\n\r\n",
    content: "x"),
  .accepted("9112-7.1.2", chunks: "1\r\nx\r\n0\r\nX: y\r\n\r\n", content: "x"),
  .accepted(
    "9112-7.1.2 framing fields are dropped",
    chunks: "1\r\nx\r\n0\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\nHost: b\r\nConnection: close\r\n\r\n",
    content: "x"),
  .accepted("9112-7.1.2 empty value", chunks: "0\r\nX:\r\n\r\n", content: ""),
  .accepted(
    "9112-7.1.2 as many as allowed", chunks: "0\r\n" + String(repeating: "X: y\r\n", count: 100) + "\r\n",
    content: ""),
  .accepted(
    "9112-6.1 coding case",
    "POST /c HTTP/1.1\r\nHost: a\r\nTRANSFER-ENCODING: \t Chunked \r\n\r\n0\r\n\r\n", "POST /c"),
  .accepted(
    "9112-6.1 with GET", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    "GET / x"),
]
