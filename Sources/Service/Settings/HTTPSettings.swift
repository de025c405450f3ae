/// What the service lets its HTTP peers do. Whatever is nil is not set, and the server's own default holds.
public struct HTTPSettings: Equatable, Sendable {
  /// Open connections, 1 to a million.
  public let connectionsMax: Int?
  /// Open connections of one peer, 1 to a million.
  public let peerConnectionsMax: Int?
  /// Requests of one connection, 1 to a thousand million.
  public let connectionRequestsMax: Int?
  /// Bytes of a request line, 128 to 64 KiB.
  public let requestLineBytesMax: Int?
  /// Field lines of a head, 8 to 10 000.
  public let headerCountMax: Int?
  /// Bytes of all field lines of a head, 256 to 1 MiB.
  public let headerBytesMax: Int?
  /// Bytes of a request's content, 1 KiB to 64 MiB.
  public let bodyBytesMax: Int?
  /// The least bytes of content for each second, 0 for any, to 1 MiB.
  public let bodyBytesPerSecondMin: Int?
  /// For a request's head, 1 s to an hour, as all times here.
  public let headerTime: Duration?
  /// For a request's content.
  public let bodyTime: Duration?
  /// Between two requests.
  public let idleTime: Duration?
  /// For an answer to be taken.
  public let writeTime: Duration?
  /// The permissions of a Unix socket's file.
  public let socketMode: UInt32?
  /// Who may say whom a request comes from.
  public let proxies: ProxySettings

  init(_ reader: inout SettingsReader) {
    func number(_ key: SettingKey, _ range: ClosedRange<Int>) -> Int? {
      reader.optional(key) { text throws(UnusableValue) in try SettingNumbers.integer(text, in: range) }
    }
    func time(_ key: SettingKey) -> Duration? {
      reader.optional(key) { text throws(UnusableValue) in try SettingNumbers.seconds(text, in: 1...3600) }
    }
    connectionsMax = number(.httpConnectionsMax, 1...1_000_000)
    peerConnectionsMax = number(.httpPeerConnectionsMax, 1...1_000_000)
    connectionRequestsMax = number(.httpConnectionRequestsMax, 1...1_000_000_000)
    requestLineBytesMax = number(.httpRequestLineBytesMax, 128...65_536)
    headerCountMax = number(.httpHeaderCountMax, 8...10_000)
    headerBytesMax = number(.httpHeaderBytesMax, 256...1_048_576)
    bodyBytesMax = number(.httpBodyBytesMax, 1024...67_108_864)
    bodyBytesPerSecondMin = number(.httpBodyBytesPerSecondMin, 0...1_048_576)
    headerTime = time(.httpHeaderSeconds)
    bodyTime = time(.httpBodySeconds)
    idleTime = time(.httpIdleSeconds)
    writeTime = time(.httpWriteSeconds)
    socketMode = reader.optional(.listenSocketMode, Self.mode)
    proxies = ProxySettings(&reader)
  }

  /// Three octal digits, perhaps after zeros, as `chmod` takes them.
  private static func mode(_ text: String) throws(UnusableValue) -> UInt32 {
    guard text.utf8.allSatisfy({ (0x30...0x37).contains($0) }), let mode = UInt32(text, radix: 8), mode <= 0o777 else {
      throw UnusableValue("no file mode", expected: "octal permissions such as 0660")
    }
    return mode
  }
}
