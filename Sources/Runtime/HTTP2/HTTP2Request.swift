/// A request as a client sends it. The connection adds `:scheme` and `:authority`.
public struct HTTP2Request: Sendable {
  /// The method, e.g. `POST`.
  public var method: String
  /// The target in origin form, e.g. `/3/device/00fc`.
  public var path: String
  /// All other fields.
  public var fields: HTTP2Fields
  /// The body, empty for none.
  public var body: [UInt8]

  /// Makes a request.
  public init(method: String = "POST", path: String, fields: HTTP2Fields = HTTP2Fields(), body: [UInt8] = []) {
    self.method = method
    self.path = path
    self.fields = fields
    self.body = body
  }
}
