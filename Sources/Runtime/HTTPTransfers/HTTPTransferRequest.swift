public import HTTPTypes

/// What is asked of a web server.
///
/// A redirect is an answer like any other and not followed. Proxies of the environment are not used.
public struct HTTPTransferRequest: Sendable {
  /// The method.
  public var method: HTTPRequest.Method

  /// Absolute, with the scheme `http` or `https`. A user and a password in it are sent as basic authentication.
  public var url: String

  /// Header fields. Host, Content-Length and User-Agent are written by the client, the last unless it is given here.
  public var fields: HTTPFields

  /// The content; nil for none.
  public var body: [UInt8]?

  /// The whole time from the call to the last byte of the answer, the wait for a turn and the resolution included.
  public var deadline: Duration

  /// The largest content of an answer, in bytes.
  public var bodyBytesMax: Int

  /// Describes a request.
  public init(
    _ method: HTTPRequest.Method = .get, url: String, fields: HTTPFields = [:], body: [UInt8]? = nil,
    deadline: Duration = .seconds(10), bodyBytesMax: Int = 1 << 20
  ) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
    self.deadline = deadline
    self.bodyBytesMax = bodyBytesMax
  }
}

/// A complete answer, whatever its status.
public struct HTTPTransferResponse: Sendable {
  /// The final status; redirects are among them.
  public let status: HTTPResponse.Status

  /// The header fields, in their order.
  public let fields: HTTPFields

  /// The content, transfer coding removed; at most `bodyBytesMax` bytes.
  public let body: [UInt8]
}
