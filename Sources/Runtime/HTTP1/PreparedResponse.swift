public import HTTPTypes

/// A final response with everything fixed but its Date and Connection fields, ready to be copied out.
///
/// Make one ahead for answers that never change; writing it is then a copy of its bytes. An object, because it is
/// handed through many hands.
public final class PreparedResponse: Sendable {
  /// The status.
  public let status: HTTPResponse.Status
  /// Whether the fields asked for the connection to be closed (`Connection: close`).
  public let closesConnection: Bool
  /// Status line, fields and Content-Length, without the empty line.
  let head: [UInt8]
  /// The empty line and the content.
  let ending: [UInt8]

  /// - Parameters:
  ///   - head: its status is final; see `ResponseHead` for the fields that are not written.
  ///   - body: dropped for 204 and 304, which have no content.
  public init(_ head: ResponseHead, body: [UInt8] = []) {
    status = head.status
    closesConnection = head.closesConnection
    ending = Array("\r\n".utf8) + (head.hasContent ? body : [])
    var bytes: [UInt8] = []
    head.write(contentLength: body.count, to: &bytes)
    self.head = bytes
  }
}

extension PreparedResponse {
  /// Every byte of the response as the only one of a connection that closes after it.
  public func bytes(date: HTTPDate) -> [UInt8] {
    var bytes = head
    bytes.append(contentsOf: date.fieldLine)
    ResponseHeadWriter.append(connection: "Connection: close\r\n", to: &bytes)
    bytes.append(contentsOf: ending)
    return bytes
  }
}
