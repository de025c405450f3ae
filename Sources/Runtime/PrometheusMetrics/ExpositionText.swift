/// Families in the text format of Prometheus, version 0.0.4.
///
/// Families are in the order of their names and series in that of their labels, each once, so that two scrapes differ
/// in nothing but numbers. Source: "Exposition formats", Prometheus documentation.
package enum ExpositionText {
  package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

  /// Writes families. Those of one name become one; its help is that of the first.
  package static func make(_ families: [MetricFamily]) -> String {
    var byName: [String: MetricFamily] = [:]
    for family in families {
      if byName[family.name] == nil { byName[family.name] = family } else { byName[family.name]?.take(family) }
    }
    var text = ""
    for family in byName.values.sorted(by: { $0.name < $1.name }) { append(family, to: &text) }
    return text
  }

  private static func append(_ family: MetricFamily, to text: inout String) {
    text += "# HELP \(family.name) \(escaped(family.help, quotes: false))\n"
    text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
    for (labels, value) in family.sorted {
      switch value {
      case .integer(let number): line(family.name, labels, "\(number)", to: &text)
      case .number(let number): line(family.name, labels, number.prometheusText, to: &text)
      case .histogram(let figures): append(figures, of: family.name, labels, to: &text)
      }
    }
  }

  private static func append(
    _ figures: HistogramFigures, of name: String, _ labels: MetricLabels, to text: inout String
  ) {
    var total: UInt64 = 0
    for (index, count) in figures.counts.enumerated() {
      total += count
      let bound = index < figures.bounds.count ? figures.bounds[index].prometheusText : "+Inf"
      line(name + "_bucket", labels, "\(total)", bound: bound, to: &text)
    }
    line(name + "_sum", labels, figures.sum.prometheusText, to: &text)
    line(name + "_count", labels, "\(total)", to: &text)
  }

  private static func line(
    _ name: String, _ labels: MetricLabels, _ value: String, bound: String? = nil, to text: inout String
  ) {
    var pairs = labels.pairs.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
    if let bound { pairs.append("le=\"\(bound)\"") }
    text += name
    if !pairs.isEmpty { text += "{\(pairs.joined(separator: ","))}" }
    text += " \(value)\n"
  }

  /// A backslash, a line feed and, in a label's value, a quotation mark are written with a backslash.
  private static func escaped(_ text: String, quotes: Bool) -> String {
    guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x0A || $0 == 0x22 }) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result.append(contentsOf: "\\\\".unicodeScalars)
      case "\n": result.append(contentsOf: "\\n".unicodeScalars)
      case "\"" where quotes: result.append(contentsOf: "\\\"".unicodeScalars)
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}

extension Double {
  /// The shortest text that is read back as the same number; whole numbers without a fraction.
  var prometheusText: String {
    if isNaN { return "NaN" }
    if isInfinite { return self < 0 ? "-Inf" : "+Inf" }
    return Int64(exactly: self).map { "\($0)" } ?? "\(self)"
  }
}
