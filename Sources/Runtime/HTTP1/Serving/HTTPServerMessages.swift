package import HTTPTypes
package import Reactors

package struct HTTPServerRequest: Sendable {
  package let head: RequestHead
  /// The client: the peer, or the address that a trusted proxy names. Nil over a Unix socket if no proxy names one.
  package let client: IPAddress?
  /// The content without transfer coding, within the route's limit. May be empty.
  package internal(set) var body: [UInt8] = []
  let matched: HTTPRoute
  /// The decoded values of the pattern's parameters, in order, never empty.
  let parameters: [String]

  /// The pattern of the route, such as `/v1/webhooks/{kind}`, for metrics.
  package var route: String { matched.pattern }

  /// The path's value of the parameter `{name}`. Traps if the pattern has no such parameter.
  package func parameter(_ name: String) -> String {
    guard let index = matched.parameterNames.firstIndex(of: name) else {
      preconditionFailure("the route \(route) has no parameter \(name)")
    }
    return parameters[index]
  }
}

package struct HTTPServerResponse: Sendable {
  enum Content {
    case plain(ResponseHead, [UInt8])
    case prepared(PreparedResponse)
  }

  let content: Content
}

extension HTTPServerResponse {
  /// By default it forbids caches to store it, because answers change and may be private, and clients to guess its type
  /// (`X-Content-Type-Options`).
  /// - Parameters:
  ///   - status: a final status.
  ///   - fields: without Content-Length, Date and Connection, which the connection writes; see `ResponseHead`.
  ///   - body: the content. Not sent for HEAD, 204 and 304.
  package init(status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
    var fields = fields
    if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
    if fields[.xContentTypeOptions] == nil { fields[.xContentTypeOptions] = "nosniff" }
    self.init(content: .plain(ResponseHead(status: status, fields: fields), body))
  }

  /// A prepared response. Writing it copies its bytes.
  package init(_ prepared: PreparedResponse) { self.init(content: .prepared(prepared)) }

  package init(status: HTTPResponse.Status = .ok, json: [UInt8]) {
    self.init(status: status, fields: [.contentType: "application/json"], body: json)
  }

  /// The response in prepared form, to be used many times.
  package var prepared: PreparedResponse {
    switch content {
    case .plain(let head, let body): PreparedResponse(head, body: body)
    case .prepared(let response): response
    }
  }

  /// The status code, without copying the phrase.
  var statusCode: Int {
    switch content {
    case .plain(let head, _): head.status.code
    case .prepared(let response): response.status.code
    }
  }

  package var status: HTTPResponse.Status {
    switch content {
    case .plain(let head, _): head.status
    case .prepared(let response): response.status
    }
  }
}

/// An error for the client, as `application/problem+json` (RFC 9457). Handlers throw it.
package struct ProblemDetails: Error, Sendable, Equatable {
  package enum Value: Sendable, Equatable {
    case string(String)
    case integer(Int)
    case boolean(Bool)
    case strings([String])
  }

  /// A URI reference for the kind of problem. `about:blank` adds nothing to the status.
  package var type: String
  /// A short summary of the kind, the same at every occurrence. By default the status's phrase.
  package var title: String
  /// The status of the answer, 400 to 599.
  package var status: HTTPResponse.Status
  /// The details of this occurrence, for the client's developer. Shown to strangers: no secrets, no internals.
  package var detail: String?
  /// Further members in order, such as `field`. Their names must differ from the four above.
  package var extensions: [(name: String, value: Value)]
  /// Fields of the answer, such as Allow, WWW-Authenticate and Retry-After.
  package var fields: HTTPFields

  /// Makes a problem. With the defaults it says as much as its status.
  package init(
    _ status: HTTPResponse.Status, type: String = "about:blank", title: String? = nil, detail: String? = nil,
    extensions: [(name: String, value: Value)] = [], fields: HTTPFields = [:]
  ) {
    self.type = type
    self.title = title ?? status.reasonPhrase
    self.status = status
    self.detail = detail
    self.extensions = extensions
    self.fields = fields
  }

  package static func == (a: ProblemDetails, b: ProblemDetails) -> Bool {
    a.type == b.type && a.title == b.title && a.status == b.status && a.detail == b.detail && a.fields == b.fields
      && a.extensions.elementsEqual(b.extensions) { $0.name == $1.name && $0.value == $1.value }
  }

  package var response: HTTPServerResponse {
    var fields = fields
    fields[.contentType] = "application/problem+json"
    return HTTPServerResponse(status: status, fields: fields, body: json)
  }

  var json: [UInt8] {
    var json = JSONObjectWriter()
    json.write("type", .string(type))
    json.write("title", .string(title))
    json.write("status", .integer(status.code))
    if let detail { json.write("detail", .string(detail)) }
    for member in extensions { json.write(member.name, member.value) }
    return json.finished()
  }
}

// The answers of the service itself.
extension ProblemDetails {
  static var notFound: ProblemDetails { ProblemDetails(.notFound, detail: "Nothing is at this path.") }

  /// RFC 9110 section 15.5.6 requires Allow.
  static func methodNotAllowed(_ allowed: String) -> ProblemDetails {
    ProblemDetails(
      .methodNotAllowed, detail: "The resource does not support this method.", fields: [.allow: allowed])
  }

  static var contentTooLarge: ProblemDetails { ProblemDetails(.contentTooLarge, detail: "The content is too large.") }

  /// RFC 9110 section 15.5.16 suggests Accept.
  static func unsupportedMediaType(_ accepted: [String]) -> ProblemDetails {
    let list = accepted.joined(separator: ", ")
    return ProblemDetails(
      .unsupportedMediaType, detail: "The content must be one of: \(list).", fields: [.accept: list])
  }

  static var internalServerError: ProblemDetails {
    ProblemDetails(.internalServerError, detail: "The request could not be processed.")
  }
}

/// Writes the members of one flat JSON object (RFC 8259) as UTF-8.
struct JSONObjectWriter {
  private var bytes: [UInt8] = [UInt8(ascii: "{")]

  mutating func write(_ name: String, _ value: ProblemDetails.Value) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    append(string: name)
    bytes.append(UInt8(ascii: ":"))
    switch value {
    case .string(let string): append(string: string)
    case .integer(let number): bytes.append(contentsOf: String(number).utf8)
    case .boolean(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    case .strings(let strings): append(array: strings)
    }
  }

  consuming func finished() -> [UInt8] {
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  private mutating func append(array: [String]) {
    bytes.append(UInt8(ascii: "["))
    for (index, string) in array.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(string: string)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  /// Quotes, backslashes and control characters must be escaped (section 7); a Swift string is valid UTF-8 already.
  private mutating func append(string: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20:
        bytes.append(contentsOf: (byte < 16 ? "\\u000" : "\\u00").utf8)
        bytes.append(contentsOf: String(byte, radix: 16).utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
