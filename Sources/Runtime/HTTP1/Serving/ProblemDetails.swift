package import HTTPTypes

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

  /// Whether all members and fields are equal, in the same order.
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
