public import HTTPTypes

/// One request without its content: what was asked, of what, and how the content is framed.
///
/// Holds the bytes as they came and where its parts stand in them; text is made when it is asked for, so a request whose
/// fields nobody reads costs three allocations. An object, because it is handed through many hands and a copy of its parts
/// would cost more than their sharing.
public final class RequestHead: Sendable {
  /// The method; case counts.
  public let method: HTTPRequest.Method
  /// The version the request is treated as.
  public let version: HTTPVersion
  /// How the end of the content is found.
  public let framing: MessageFraming
  /// Whether the connection may be used again after the answer, as far as the client is concerned
  /// (RFC 9112 section 9.3).
  public let isPersistent: Bool
  /// Whether the client waits for `100 Continue` before it sends the content (RFC 9110 section 10.1.1).
  public let expectsContinue: Bool

  let bytes: [UInt8]
  let targetParts: RequestTarget
  let fieldLines: [FieldLine]

  /// The size of the head on the wire, its empty line included.
  public var byteCount: Int { bytes.count }

  init(
    line: RequestLine, framing: MessageFraming, control: ControlFields, bytes: [UInt8], fieldLines: [FieldLine]
  ) {
    method = line.method
    version = line.version
    self.framing = framing
    isPersistent = !control.asksToClose && (line.version == .http11 || control.asksToKeepAlive)
    expectsContinue = control.expectsContinue && line.version == .http11 && framing.expectsContent
    self.bytes = bytes
    targetParts = line.target
    self.fieldLines = fieldLines
  }

  func text(_ range: Range<Int>) -> String {
    let bytes = bytes
    return String(bytes.span.extracting(range))
  }
}
