/// A setting and its value (RFC 9113 §6.5.2).
public struct HTTP2Setting: Equatable, Sendable {
  /// The identifier on the wire.
  public let id: UInt16
  /// The value.
  public let value: UInt32

  /// Makes a setting from its numbers.
  public init(id: UInt16, value: UInt32) {
    self.id = id
    self.value = value
  }

  /// SETTINGS_ENABLE_PUSH, off: a client that takes no pushes.
  public static let noPush = HTTP2Setting(id: 2, value: 0)
  /// SETTINGS_MAX_CONCURRENT_STREAMS.
  public static func streamsMax(_ count: Int) -> HTTP2Setting { HTTP2Setting(id: 3, value: UInt32(clamping: count)) }
  /// SETTINGS_INITIAL_WINDOW_SIZE: bytes that may be sent ahead on one stream.
  public static func streamWindow(_ bytes: Int) -> HTTP2Setting { HTTP2Setting(id: 4, value: UInt32(clamping: bytes)) }
  /// SETTINGS_MAX_HEADER_LIST_SIZE.
  public static func fieldsBytesMax(_ bytes: Int) -> HTTP2Setting {
    HTTP2Setting(id: 6, value: UInt32(clamping: bytes))
  }

  static let streamsMaxID: UInt16 = 3
}
