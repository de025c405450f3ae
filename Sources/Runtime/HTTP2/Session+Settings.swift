internal import CNghttp2

/// Announcing a limit of streams without having nghttp2 enforce it.
///
/// nghttp2 answers a stream over an acknowledged limit by failing the connection. APNs refuses the one stream and goes
/// on, and a server has to be able to play APNs. So the limit is handed to nghttp2 under a number it does not know,
/// gets its right number in the finished frame, and the server counts for itself.
extension Session {
  /// An identifier that no specification assigns.
  private static let disguise: UInt16 = 0xf3f3

  /// Offsets in a SETTINGS frame (RFC 9113 §4.1, §6.5): type and flags, then entries of six bytes behind the head.
  private static let typeOffset = 3
  private static let headBytes = 9
  private static let entryBytes = 6

  /// Entries in one frame: more than there are settings.
  private static let entriesMax = 32
  static let settingsFrameBytesMax = headBytes + entriesMax * entryBytes

  /// Sends settings; the peer's acknowledgement is nghttp2's business.
  func submit(_ settings: [HTTP2Setting], disguisingStreamsMax: Bool = false) {
    precondition(settings.count <= Session.entriesMax, "a SETTINGS frame of this session has at most 32 entries")
    let entries = settings.map { setting in
      let isDisguised = disguisingStreamsMax && setting.id == HTTP2Setting.streamsMaxID
      return nghttp2_settings_entry(
        settings_id: Int32(isDisguised ? Session.disguise : setting.id), value: setting.value)
    }
    if entries.contains(where: { $0.settings_id == Int32(Session.disguise) }) { disguisedSettings += 1 }
    nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
  }

  /// Each chunk is one frame, so its head is where the chunk begins.
  func revealSettings(in chunk: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard disguisedSettings > 0, chunk.count >= Session.headBytes + Session.entryBytes,
      chunk[Session.typeOffset] == UInt8(NGHTTP2_SETTINGS.rawValue)
    else { return chunk }
    return withRevealedFrame(chunk)
  }

  private func withRevealedFrame(_ chunk: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let size = min(chunk.count, revealedFrame.count)
    let frame = UnsafeMutableRawBufferPointer(rebasing: revealedFrame[..<size])
    frame.copyMemory(from: UnsafeRawBufferPointer(rebasing: chunk[..<size]))
    for entry in stride(from: Session.headBytes, through: size - Session.entryBytes, by: Session.entryBytes)
    where frame.loadUnaligned(fromByteOffset: entry, as: UInt16.self) == Session.disguise.bigEndian {
      frame.storeBytes(of: HTTP2Setting.streamsMaxID.bigEndian, toByteOffset: entry, as: UInt16.self)
      disguisedSettings -= 1
    }
    return UnsafeRawBufferPointer(frame)
  }
}

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
