/// The part of a body that may be shortened: words, or an argument of a localised text.
struct TrimmableText {
  /// What a shortened text ends with.
  static let continuation = "..."

  let place: TrimmedText
  let text: String
  /// The whole body with another text in this place.
  let body: (String) -> AlertText

  /// The longest beginning of whole grapheme clusters that takes at most so many bytes inside a JSON string, so that no
  /// letter loses its accent and no family a member.
  func beginning(encodedBytesMax: Int) -> Substring {
    var room = encodedBytesMax
    var end = text.startIndex
    while end < text.endIndex {
      let next = text.index(after: end)
      room -= text.utf8[end..<next].reduce(0) { $0 + JSONEscape.width(of: $1) }
      if room < 0 { break }
      end = next
    }
    return text[..<end]
  }
}

extension AlertText {
  /// The words, or the longest argument, of equally long ones the first; nil for a key alone.
  var trimmable: TrimmableText? {
    switch self {
    case .verbatim(let words):
      return TrimmableText(place: .body, text: words, body: AlertText.verbatim)
    case .localized(let key, let arguments):
      let longest = arguments.indices.max { arguments[$0].utf8.count < arguments[$1].utf8.count }
      guard let longest else { return nil }
      return TrimmableText(place: .bodyArgument(longest), text: arguments[longest]) { text in
        var arguments = arguments
        arguments[longest] = text
        return .localized(key: key, arguments: arguments)
      }
    }
  }
}
