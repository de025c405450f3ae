internal import HTTP2

/// A request as the judge sees it: no socket, no stream, no clock.
public struct InspectedRequest: Sendable {
  /// Who vouches for the connection besides provider tokens.
  public enum Certificate: Sendable {
    /// No client certificate: every request needs a provider token.
    case none
    /// A client certificate for these topics; `authorization` is not looked at.
    case topics([String])
    /// A client certificate that nobody registered.
    case unknown
  }

  /// `:method`.
  public var method: String
  /// `:path`, as sent.
  public var path: String
  /// The fields besides the pseudo ones, names in lower case as HTTP/2 demands, in order, repeated ones repeated.
  public var fields: [(name: String, value: String)]
  /// The whole body, or its beginning when ``bodyBytes`` says that there was more.
  public var body: [UInt8]
  /// The size of the body as sent.
  public var bodyBytes: Int
  /// The client certificate of the connection.
  public var certificate: Certificate

  /// A request with a whole body.
  public init(
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
  /// What came over HTTP/2; a body over the server's limit is cut, and its size tells.
  init(_ request: HTTP2ServerRequest, certificate: Certificate) {
    self.init(
      method: request.method, path: request.path, fields: request.fields.map { (name: $0.name, value: $0.value) },
      body: request.body, certificate: certificate)
    bodyBytes = request.bodyBytesReceived
  }
}
