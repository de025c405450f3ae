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

  init(_ head: RequestHead, from client: IPAddress?, to matched: HTTPRoute, parameters: [String]) {
    self.head = head
    self.client = client
    self.matched = matched
    self.parameters = parameters
  }

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

  init(content: Content) {
    self.content = content
  }

  /// A response for this request.
  ///
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
    content = .plain(ResponseHead(status: status, fields: fields), body)
  }

  /// A prepared response. Writing it copies its bytes.
  package init(_ prepared: PreparedResponse) {
    content = .prepared(prepared)
  }

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
