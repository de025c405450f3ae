public import HTTPTypes

/// Why a request is not processed; it is answered with the status and the connection closes.
///
/// The text is constant: nothing the peer sent is repeated to it or to a log.
public struct RequestRefusal: Error, Equatable, CustomStringConvertible {
  /// The status of the answer, 4xx or 5xx.
  public let status: HTTPResponse.Status
  /// One sentence for the client's developer.
  public let detail: String

  init(_ status: HTTPResponse.Status, _ detail: StaticString) {
    self.status = status
    self.detail = detail.description
  }

  /// The status and the sentence.
  public var description: String { "\(status.code): \(detail)" }

  /// The answer as RFC 9457 problem details. The sentences contain nothing that JSON escapes.
  var response: PreparedResponse {
    let json = """
      {"type":"about:blank","title":"\(status.reasonPhrase)","status":\(status.code),"detail":"\(detail)"}
      """
    var fields: HTTPFields = [
      .contentType: "application/problem+json", .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
    ]
    if status == .serviceUnavailable { fields[.retryAfter] = "1" }
    let head = ResponseHead(status: status, fields: fields)
    return PreparedResponse(head, body: Array(json.utf8))
  }
}
