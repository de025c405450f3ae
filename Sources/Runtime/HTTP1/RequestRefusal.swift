package import HTTPTypes

/// Why a request is refused. The answer has the status, and the connection closes.
///
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
