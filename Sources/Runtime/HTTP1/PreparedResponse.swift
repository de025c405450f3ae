package import HTTPTypes

/// A final response, complete except for its Date and Connection fields.
///
/// Make one ahead for an answer that never changes. Writing it then copies its bytes. An object, because it is passed through
/// many calls.
package final class PreparedResponse: Sendable {
  package let status: HTTPResponse.Status
  package let closesConnection: Bool
  /// Status line, fields and Content-Length, without the empty line.
  let head: [UInt8]
  /// The empty line and the content.
  let ending: [UInt8]

  /// - Parameters:
  ///   - head: with a final status. See `ResponseHead` for the fields that are not written.
  ///   - body: the content; dropped for 204 and 304, which have none.
  package init(_ head: ResponseHead, body: [UInt8] = []) {
    status = head.status
    closesConnection = head.closesConnection
    ending = Array("\r\n".utf8) + (head.hasContent ? body : [])
    var bytes: [UInt8] = []
    head.write(contentLength: body.count, to: &bytes)
    self.head = bytes
  }

  /// The bytes of the response as the last one of its connection.
  package func bytes(date: HTTPDate) -> [UInt8] {
    var bytes = head
    bytes.append(contentsOf: date.fieldLine)
    bytes.append(contentsOf: "Connection: close\r\n".utf8)
    bytes.append(contentsOf: ending)
    return bytes
  }
}
