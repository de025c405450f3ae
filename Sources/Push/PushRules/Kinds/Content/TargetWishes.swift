internal import FoundationEssentials

/// What a registration says of content, in ``PushTarget/keys``: the choice for the device as `content`, the user's for all devices as
/// `user_content`, and the key of the device as `sealing_key`.
struct TargetWishes: Equatable {
  /// The longest document that is read, in bytes; claims cut it at 1024 characters.
  private static let bytesMax = 4096

  /// The strictest choice.
  var level = ContentLevel.full
  /// The device's key; nil without one that can be used.
  var key: SealingKey?

  init(level: ContentLevel = .full, key: SealingKey? = nil) {
    self.level = level
    self.key = key
  }

  /// Reads the members of a JSON object. One that names a choice and cannot be read allows no words.
  init(_ keys: String?) {
    guard let keys, Self.mayConcernContent(keys) else { return }
    guard keys.utf8.count <= Self.bytesMax,
      let document = try? JSONDecoder().decode(Document.self, from: Data(keys.utf8))
    else {
      level = ContentLevel(.none)
      return
    }
    for word in [document.content, document.user_content] {
      guard let word else { continue }
      level = level.strictest(ContentLevel(ContentChoice(rawValue: word) ?? .none))
    }
    key = document.sealing_key.flatMap { SealingKey(text: $0) }
  }

  private struct Document: Decodable {
    let content: String?
    let user_content: String?
    let sealing_key: String?
  }

  /// Whether a text has `content"` or `sealing_key"` anywhere. Most have not, and are not decoded.
  private static func mayConcernContent(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      var index = 0
      while index < bytes.count {
        // Both names end in a letter before the quote that few others have there.
        if bytes[index] == UInt8(ascii: "\""), index >= 7 {
          let end = bytes[..<index]
          if end.suffix(7).elementsEqual("content".utf8) || end.suffix(11).elementsEqual("sealing_key".utf8) {
            return true
          }
        }
        index += 1
      }
      return false
    }
  }
}
