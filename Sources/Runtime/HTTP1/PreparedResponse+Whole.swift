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
