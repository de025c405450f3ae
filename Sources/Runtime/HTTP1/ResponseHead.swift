public import HTTPTypes

/// The status and the fields of a final response, as a handler decides them.
///
/// Content-Length, Transfer-Encoding, Date and Connection belong to the connection: what stands here under those names
/// is not written, except that `Connection: close` closes the connection after the answer.
public struct ResponseHead: Sendable {
  /// A final status, 200 to 599; anything else traps when it is written.
  public var status: HTTPResponse.Status
  /// The fields, in the order they are written.
  public var fields: HTTPFields

  /// Makes a head with the given parts.
  public init(status: HTTPResponse.Status, fields: HTTPFields = [:]) {
    self.status = status
    self.fields = fields
  }

  /// Whether a response with this status has content (RFC 9110 section 6.4.1).
  var hasContent: Bool { status != .noContent && status != .notModified }

  var closesConnection: Bool { fields[.connection].map { $0.lowercased() == "close" } ?? false }

  /// Everything up to the Date field.
  func write(contentLength: Int, to buffer: inout [UInt8]) {
    precondition((200...599).contains(status.code), "a response has a final status, not \(status.code)")
    ResponseHeadWriter.append(status: status, fields: fields, to: &buffer)
    if hasContent { ResponseHeadWriter.append(contentLength: contentLength, to: &buffer) }
  }
}
