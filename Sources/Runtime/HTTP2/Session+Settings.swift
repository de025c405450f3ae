internal import CNghttp2

// Announces a limit of streams that nghttp2 does not enforce.
//
// nghttp2 fails the connection when a stream exceeds an acknowledged limit. APNs refuses only that stream, and a server must be
// able to simulate APNs. So nghttp2 gets the limit under an unknown identifier, the finished frame gets the right one, and the
// server counts its streams itself.
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

  /// Sends settings. nghttp2 handles the peer's acknowledgement.
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

  /// Restores the identifier in a SETTINGS frame. Each chunk is one frame and begins with its head.
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
package struct HTTP2Setting: Equatable, Sendable {
  package let id: UInt16
  package let value: UInt32

  package init(id: UInt16, value: UInt32) {
    self.id = id
    self.value = value
  }

  /// SETTINGS_ENABLE_PUSH off: the client accepts no server push.
  package static let noPush = HTTP2Setting(id: 2, value: 0)
  /// SETTINGS_MAX_CONCURRENT_STREAMS.
  package static func streamsMax(_ count: Int) -> HTTP2Setting { HTTP2Setting(id: 3, value: UInt32(clamping: count)) }
  /// SETTINGS_INITIAL_WINDOW_SIZE: the flow-control window of one stream.
  package static func streamWindow(_ bytes: Int) -> HTTP2Setting { HTTP2Setting(id: 4, value: UInt32(clamping: bytes)) }
  /// SETTINGS_MAX_HEADER_LIST_SIZE.
  package static func fieldsBytesMax(_ bytes: Int) -> HTTP2Setting {
    HTTP2Setting(id: 6, value: UInt32(clamping: bytes))
  }

  static let streamsMaxID: UInt16 = 3
}
