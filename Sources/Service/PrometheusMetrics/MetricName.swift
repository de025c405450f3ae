/// Names as Prometheus takes them. Source: "Data model", Prometheus documentation.
enum MetricName {
  /// A family's name: letters, digits, `_` and `:`, no digit first. Whatever else comes becomes `_`, so that a library's
  /// `http.requests` is `http_requests`; an empty one becomes `_`.
  static func family(_ text: String) -> String { cleaned(text, alsoTaking: ":") }

  /// A label's name: as a family's without `:`. `le` belongs to histograms and gets another `_`.
  static func label(_ text: String) -> String {
    let name = cleaned(text, alsoTaking: "_")
    return name == "le" ? "le_" : name
  }

  private static func cleaned(_ text: String, alsoTaking other: Unicode.Scalar) -> String {
    var name = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isDigit = ("0"..."9").contains(scalar)
      if isDigit, name.isEmpty { name.append("_") }
      name.append(isDigit || isLetter(scalar) || scalar == other ? scalar : "_")
    }
    return name.isEmpty ? "_" : String(name)
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
  }
}
