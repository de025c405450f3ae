/// One request that a server has not finished answering.
final class ServerStream: MessageStream {
  private(set) var method = ""
  private(set) var path = ""
  private(set) var authority = ""
  var isAnswered = false

  override func receivePseudoField(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let text = String(decoding: value, as: UTF8.self)
    switch name.count {
    case ":path".utf8.count where name.elementsEqual(":path".utf8): path = text
    case ":method".utf8.count where name.elementsEqual(":method".utf8): method = text
    case ":authority".utf8.count where name.elementsEqual(":authority".utf8): authority = text
    default: break  // `:scheme`, which over TLS says nothing new.
    }
  }

  func request(arrival: UInt64) -> HTTP2ServerRequest {
    HTTP2ServerRequest(
      streamID: id, method: method, path: path, authority: authority, fields: fields, body: body,
      bodyBytesReceived: bodyBytesReceived, arrival: arrival)
  }
}
