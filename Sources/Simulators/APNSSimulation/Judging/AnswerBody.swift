/// The JSON bodies of refusals.
enum AnswerBody {
  /// `{"reason":"...","timestamp":...}`, the timestamp in milliseconds since 1970 and only where there is one.
  static func json(reason: String, timestamp: Int64?) -> [UInt8] {
    var text = #"{"reason":""#
    for scalar in reason.unicodeScalars {
      switch scalar {
      case "\"", "\\": text += "\\" + String(scalar)
      case "\u{0}"..."\u{1F}": text += " "
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
    if let timestamp { text += #","timestamp":\#(timestamp)"# }
    return Array((text + "}").utf8)
  }
}
