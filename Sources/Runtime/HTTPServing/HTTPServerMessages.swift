public import HTTP1
public import HTTPTypes
public import Reactors

/// A complete request, as a handler gets it.
public struct HTTPServerRequest: Sendable {
  /// Method, target and fields.
  public let head: RequestHead
  /// Whom the request comes from: the peer, or whom a trusted proxy names; nil over a Unix socket that names nobody.
  public let client: IPAddress?
  /// The content, transfer coding removed; empty if there was none. Never longer than the route's limit.
  public internal(set) var body: [UInt8] = []
  let matched: HTTPRoute
  /// The values of the pattern's parameters in the pattern's order, decoded, never empty.
  let parameters: [String]

  /// The pattern of the route that matched, such as `/v1/webhooks/{kind}`: the label for metrics.
  public var route: String { matched.pattern }

  init(_ head: RequestHead, from client: IPAddress?, to matched: HTTPRoute, parameters: [String]) {
    self.head = head
    self.client = client
    self.matched = matched
    self.parameters = parameters
  }

  /// The value the path has at the pattern's `{name}`.
  ///
  /// Asking for a name that the pattern does not have is a mistake of the caller and traps.
  public func parameter(_ name: String) -> String {
    guard let index = matched.parameterNames.firstIndex(of: name) else {
      preconditionFailure("the route \(route) has no parameter \(name)")
    }
    return parameters[index]
  }
}

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
