internal import HTTP2

extension InspectedRequest {
  /// What came over HTTP/2; a body over the server's limit is cut, and its size tells.
  init(_ request: HTTP2ServerRequest, certificate: Certificate) {
    self.init(
      method: request.method, path: request.path, fields: request.fields.map { (name: $0.name, value: $0.value) },
      body: request.body, certificate: certificate)
    bodyBytes = request.bodyBytesReceived
  }
}
