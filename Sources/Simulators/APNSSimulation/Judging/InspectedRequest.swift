internal import HTTP2

/// A request for the judge, without socket, stream or clock.
package struct InspectedRequest: Sendable {
  /// The client certificate of a connection.
  package enum Certificate: Sendable {
    /// No client certificate: every request needs a provider token.
    case none
    /// A client certificate for these topics; `authorization` is ignored.
    case topics([String])
    /// An unregistered client certificate.
    case unknown
  }

  package var method: String
  /// `:path`, as sent.
  package var path: String
  /// The fields without the pseudo ones, in order, with names in lower case as HTTP/2 requires. Names may repeat.
  package var fields: [(name: String, value: String)]
  /// The body, cut if ``bodyBytes`` is larger.
  package var body: [UInt8]
  /// The size of the body as sent.
  package var bodyBytes: Int
  package var certificate: Certificate

  /// A request with a whole body.
  package init(
    method: String,
    path: String,
    fields: [(name: String, value: String)],
    body: [UInt8],
    certificate: Certificate = .none
  ) {
    self.method = method
    self.path = path
    self.fields = fields
    self.body = body
    bodyBytes = body.count
    self.certificate = certificate
  }

  /// The first value of a field.
  func value(of name: String) -> String? {
    fields.first { $0.name == name }?.value
  }
}

extension InspectedRequest {
  /// A request over HTTP/2. A body over the server's limit is cut; its size stays.
  init(_ request: HTTP2ServerRequest, certificate: Certificate) {
    self.init(
      method: request.method, path: request.path, fields: request.fields.map { (name: $0.name, value: $0.value) },
      body: request.body, certificate: certificate)
    bodyBytes = request.bodyBytesReceived
  }
}
