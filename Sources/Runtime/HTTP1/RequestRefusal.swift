package import HTTPTypes

/// Why a request is refused. The answer has the status, and the connection closes.
/// The text is constant: it repeats nothing of the request, neither to the peer nor to a log.
package struct RequestRefusal: Error, Equatable, CustomStringConvertible {
  /// The status of the answer, 4xx or 5xx.
  package let status: HTTPResponse.Status
  /// One sentence for the client's developer.
  package let detail: String

  init(_ status: HTTPResponse.Status, _ detail: StaticString) {
    self.status = status
    self.detail = detail.description
  }

  package var description: String { "\(status.code): \(detail)" }

  /// The answer as RFC 9457 problem details. No sentence needs JSON escapes.
  var response: PreparedResponse {
    let json = """
      {"type":"about:blank","title":"\(status.reasonPhrase)","status":\(status.code),"detail":"\(detail)"}
      """
    var fields: HTTPFields = [
      .contentType: "application/problem+json", .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
    ]
    if status == .serviceUnavailable { fields[.retryAfter] = "1" }
    let head = ResponseHead(status: status, fields: fields)
    return PreparedResponse(head, body: Array(json.utf8))
  }
}

// The reasons, by the part of the request.
extension RequestRefusal {
  // Lines.
  static var bareLineBreak: Self { .init(.badRequest, "A line must end with carriage return and line feed.") }
  static var controlCharacter: Self { .init(.badRequest, "The head contains a control character.") }
  static var emptyLines: Self { .init(.badRequest, "More than one empty line precedes the request.") }
  static var incomplete: Self { .init(.badRequest, "The connection ended inside a request.") }
  static var timedOut: Self { .init(.requestTimeout, "The request did not arrive in time.") }

  // Request line.
  static var requestLineTooLong: Self { .init(.uriTooLong, "The request line is too long.") }
  static var malformedRequestLine: Self { .init(.badRequest, "The request line is malformed.") }
  static var malformedMethod: Self { .init(.badRequest, "The method is not a token.") }
  static var methodTooLong: Self { .init(.notImplemented, "The method is longer than any that is supported.") }
  static var connectRefused: Self { .init(.notImplemented, "CONNECT is not supported.") }
  static var malformedTarget: Self { .init(.badRequest, "The request target is malformed.") }
  static var dotSegment: Self { .init(.badRequest, "The path contains a dot segment.") }
  static var misdirected: Self { .init(.misdirectedRequest, "An https target needs a secured connection.") }
  static var malformedVersion: Self { .init(.badRequest, "The protocol version is malformed.") }
  static var unsupportedVersion: Self { .init(.httpVersionNotSupported, "Only HTTP/1.1 and HTTP/1.0 are supported.") }

  // Field lines.
  static var fieldsTooLarge: Self { .init(.requestHeaderFieldsTooLarge, "The header fields are too large.") }
  static var tooManyFields: Self { .init(.requestHeaderFieldsTooLarge, "There are too many header fields.") }
  static var foldedField: Self { .init(.badRequest, "A header field is folded over several lines.") }
  static var malformedField: Self { .init(.badRequest, "A header field is malformed.") }
  static var missingHost: Self { .init(.badRequest, "The Host header field is missing.") }
  static var malformedHost: Self { .init(.badRequest, "The Host header field is malformed.") }
  static var repeatedHost: Self { .init(.badRequest, "The Host header field is repeated.") }
  static var malformedConnection: Self { .init(.badRequest, "The Connection header field is malformed.") }
  static var unknownExpectation: Self { .init(.expectationFailed, "The expectation is not supported.") }

  // Framing.
  static var malformedLength: Self { .init(.badRequest, "The Content-Length header field is malformed.") }
  static var repeatedLength: Self { .init(.badRequest, "The Content-Length header field is repeated.") }
  static var lengthAndCoding: Self { .init(.badRequest, "Content-Length and Transfer-Encoding exclude each other.") }
  static var malformedCoding: Self { .init(.badRequest, "The Transfer-Encoding header field is malformed.") }
  static var repeatedCoding: Self { .init(.badRequest, "The Transfer-Encoding header field is repeated.") }
  static var unknownCoding: Self { .init(.notImplemented, "The transfer coding is not supported.") }
  static var codingInOldVersion: Self { .init(.badRequest, "HTTP/1.0 has no transfer codings.") }

  // Content.
  static var outOfMemory: Self { .init(.serviceUnavailable, "Too much waits to be read at the moment.") }
  static var contentTooLarge: Self { .init(.contentTooLarge, "The content is too large.") }
  static var malformedChunk: Self { .init(.badRequest, "A chunk is malformed.") }
  static var chunkLineTooLong: Self { .init(.contentTooLarge, "A chunk's extensions are too long.") }
  static var trailersTooLarge: Self { .init(.requestHeaderFieldsTooLarge, "The trailer fields are too large.") }
}

/// Bounds on what a peer may send, each with the reason for its default.
/// Sizes are in bytes and inclusive: a request of exactly the limit is accepted.
package struct HTTPLimits: Equatable, Sendable {
  /// The request line without its line end. The answer to a longer one is 414.
  /// 8 KiB (8192): RFC 9112 section 3 recommends at least 8000.
  package var requestLineBytesMax = 8 * 1024
  /// All field lines of one head together, line ends included. The answer to more is 431.
  /// 16 KiB (16384): enough for a bearer token of 4 KiB and a browser's cookies. One idle connection can make the process keep
  /// as much.
  package var fieldBytesMax = 16 * 1024
  /// Field lines of one head, and of one trailer section. The answer to more is 431.
  /// 100: Apache httpd's default (`LimitRequestFields`). Browsers send about 20.
  package var fieldCountMax = 100
  /// The content of a request whose route sets no limit. The answer to more is 413.
  /// 1 MiB (1048576): nginx's default (`client_max_body_size`).
  package var bodyBytesMax = 1024 * 1024
  /// The longest content of a refused request that is read and discarded to keep the connection. Longer content closes it.
  /// 64 KiB (65536): reading as much is cheaper than a new connection.
  package var discardedBytesMax = 64 * 1024
  /// One chunk-size line with its extensions, without the line end. The answer to a longer one is 413.
  /// 256: sixteen digits and a signature extension fit.
  package var chunkLineBytesMax = 256
  /// All chunk extensions of one request together. The answer to more is 413 (RFC 9112 section 7.1.1).
  /// 16 KiB (16384): a signature of 80 bytes on each 8 KiB chunk of a body of the default limit.
  package var chunkExtensionBytesMax = 16 * 1024

  package init() {}
}
