/// The labels of one series, in the order of their names; each name once.
package struct MetricLabels: Hashable, Sendable {
  /// Stands for every series beyond a family's bound.
  static let other = "other"

  /// Sorted; names are valid, values are any text.
  let pairs: [Pair]

  struct Pair: Hashable, Sendable {
    let name: String
    let value: String
  }

  package static let none = MetricLabels([])

  /// Takes names as they come: what Prometheus does not allow in one becomes `_`. Of a name that comes twice the last
  /// value counts.
  package init(_ dimensions: [(String, String)]) {
    var values: [String: String] = [:]
    for (name, value) in dimensions { values[MetricName.label(name)] = value }
    pairs = values.map { Pair(name: $0.key, value: $0.value) }.sorted { $0.name < $1.name }
  }

  private init(pairs: [Pair]) { self.pairs = pairs }

  package subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

  /// The series that takes the place of this one where there are too many: the same names, each with the value `other`.
  var overflow: MetricLabels {
    MetricLabels(pairs: pairs.map { Pair(name: $0.name, value: Self.other) })
  }
}

extension MetricLabels: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }
}

extension MetricLabels: Comparable {
  /// By the first label that differs, so that the lines of a family keep their order from scrape to scrape.
  package static func < (one: MetricLabels, other: MetricLabels) -> Bool {
    one.pairs.lexicographicallyPrecedes(other.pairs) { ($0.name, $0.value) < ($1.name, $1.value) }
  }
}

/// Names as Prometheus takes them. Source: "Data model", Prometheus documentation.
enum MetricName {
  /// A family's name: letters, digits, `_` and `:`, no digit first. Other characters become `_`, so that a library's
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
