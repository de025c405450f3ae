/// An alert that fits a byte limit.
public struct FittedAlert: Equatable, Sendable {
  /// The payload, its body possibly shortened.
  public let payload: AlertPayload
  /// Whether the body was shortened.
  public let isTrimmed: Bool
}

extension AlertPayload {
  /// What a shortened body ends with.
  private static let continuation = "..."

  /// The payload with as much of its body as a byte limit leaves room for.
  ///
  /// The body is cut between grapheme clusters and gets `...`, so no letter loses its accent and no family a member.
  /// Only the body is ever shortened: the app relies on the custom data, and the title says who it is from. The cost is
  /// bounded by the limit, except for one look at a cluster that is larger than it.
  /// - Parameter bytesMax: the largest document, in bytes; see ``PushType/bodyBytesMax``. With ``PreparedAlert``, fit
  ///   with the largest badge of all recipients.
  /// - Throws: `payloadTooLarge` when the document would not fit with no body at all.
  public func fitted(to bytesMax: Int) throws(PushRequestError) -> FittedAlert {
    let encodedCount = encoded().count
    if encodedCount <= bytesMax { return FittedAlert(payload: self, isTrimmed: false) }
    var trimmed = self
    trimmed.body = ""
    let emptyCount = trimmed.encoded().count
    guard emptyCount <= bytesMax else {
      throw PushRequestError(.payloadTooLarge, "\(emptyCount) bytes without its text; \(bytesMax) are allowed")
    }
    trimmed.body = Self.beginning(of: body, widthMax: bytesMax - emptyCount - bodyMemberBytes)
    return FittedAlert(payload: trimmed, isTrimmed: true)
  }

  /// Bytes of `"body":""` and, after a title, its comma.
  private var bodyMemberBytes: Int { title.isEmpty ? 9 : 10 }

  /// The longest beginning of a text that takes at most `widthMax` bytes in the document, its continuation included.
  private static func beginning(of text: String, widthMax: Int) -> String {
    var room = widthMax - continuation.utf8.count
    guard room >= 0 else { return "" }
    var end = text.startIndex
    while end < text.endIndex {
      let next = text.index(after: end)
      room -= text.utf8[end..<next].reduce(0) { $0 + JSONEscape.width(of: $1) }
      if room < 0 { break }
      end = next
    }
    return text[..<end] + continuation
  }
}
