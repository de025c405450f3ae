public import HTTP1
public import HTTPTypes

/// What a handler answers.
public struct HTTPServerResponse: Sendable {
  enum Content {
    case plain(ResponseHead, [UInt8])
    case prepared(PreparedResponse)
  }

  let content: Content

  /// A response made for this request.
  ///
  /// Unless `fields` say otherwise it may not be stored, since answers are of the moment and may be a caller's own, and its
  /// type is not to be guessed (`X-Content-Type-Options`).
  /// - Parameters:
  ///   - status: a final one.
  ///   - fields: the connection writes Content-Length, Date and Connection itself; see `ResponseHead`.
  ///   - body: the whole content; not sent to HEAD, nor with 204 and 304.
  public init(status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
    var fields = fields
    if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
    if fields[.xContentTypeOptions] == nil { fields[.xContentTypeOptions] = "nosniff" }
    content = .plain(ResponseHead(status: status, fields: fields), body)
  }

  /// A response that was made ahead; writing it is a copy of its bytes.
  public init(_ prepared: PreparedResponse) {
    content = .prepared(prepared)
  }

  /// JSON that is already encoded.
  public init(status: HTTPResponse.Status = .ok, json: [UInt8]) {
    self.init(status: status, fields: [.contentType: "application/json"], body: json)
  }

  /// The same response, made once to be given often.
  public var prepared: PreparedResponse {
    switch content {
    case .plain(let head, let body): PreparedResponse(head, body: body)
    case .prepared(let response): response
    }
  }

  /// The number alone, without the phrase, which is a string to copy.
  var statusCode: Int {
    switch content {
    case .plain(let head, _): head.status.code
    case .prepared(let response): response.status.code
    }
  }

  /// The status.
  public var status: HTTPResponse.Status {
    switch content {
    case .plain(let head, _): head.status
    case .prepared(let response): response.status
    }
  }
}
