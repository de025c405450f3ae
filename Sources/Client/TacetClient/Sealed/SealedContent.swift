public import Foundation

/// What a sealed push says.
public struct SealedContent: Hashable, Sendable {
  /// When the service made the push.
  public let issuedAt: Date
  /// The first line.
  public let title: String?
  /// The line below the title.
  public let subtitle: String?
  /// The text.
  public let body: String?
  /// The address of an image.
  public let imageURL: String?
  /// Further members of the push's data: a JSON object; nil for none.
  let data: Data?

  /// Reads the decrypted document. A member of another type counts as absent.
  init?(_ document: Data) {
    guard let members = try? JSONSerialization.jsonObject(with: document) as? [String: Any],
      let milliseconds = members["issued_at"] as? Int64
    else { return nil }
    issuedAt = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    title = members["title"] as? String
    subtitle = members["subtitle"] as? String
    body = members["body"] as? String
    imageURL = members["image_url"] as? String
    data = (members["data"] as? [String: Any]).flatMap { try? JSONSerialization.data(withJSONObject: $0) }
  }

  /// The push's data as it would be without sealing, for ``PushContent``.
  public func userInfo(completing userInfo: [AnyHashable: Any]) -> [AnyHashable: Any] {
    var all = userInfo
    all["sealed"] = nil
    let more = data.flatMap { try? JSONSerialization.jsonObject(with: $0) as? [String: Any] } ?? [:]
    for (name, value) in more where all[name] == nil { all[name] = value }
    if let imageURL { all["image_url"] = imageURL }
    return all
  }
}

/// Why a sealed push is not opened. It then shows what came with it.
public enum SealedContentError: Error, Hashable, Sendable {
  /// The envelope has another form.
  case malformed
  /// The service has sealed it in a way that this version does not know.
  case unknownVersion
  /// It was sealed for a key that this device does not have.
  case unknownKey
  /// It was changed, or belongs to another device or event.
  case notAuthentic
  /// It has been opened before.
  case alreadyOpened
  /// It is older than ``ContentSeal/lifetime``.
  case tooOld
}
