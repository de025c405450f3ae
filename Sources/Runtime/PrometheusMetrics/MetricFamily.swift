/// The series of one name, as they are at the moment of a scrape.
package struct MetricFamily: Sendable {
  package enum Kind: String, Sendable {
    /// Only grows, except at a restart.
    case counter
    case gauge
    /// How many observations were at most this large, for each of several bounds.
    case histogram
  }

  /// What one series shows.
  package enum Value: Equatable, Sendable {
    case integer(Int64)
    /// Any other; infinite ones and NaN are allowed.
    case number(Double)
    case histogram(HistogramFigures)
  }

  /// Letters, digits, `_` and `:`.
  package let name: String
  package let help: String
  package let kind: Kind

  /// In any order. Of equal labels the first counts.
  package private(set) var samples: [(labels: MetricLabels, value: Value)] = []

  /// Makes a family without series; that much of it is shown nevertheless.
  /// - Parameter name: what Prometheus does not allow in it becomes `_`.
  package init(_ name: String, _ help: String, _ kind: Kind) {
    self.name = MetricName.family(name)
    self.help = help
    self.kind = kind
  }

  package init(_ name: String, _ help: String, _ kind: Kind, _ value: Value) {
    self.init(name, help, kind)
    add(value)
  }

  package mutating func add(_ value: Value, _ labels: MetricLabels = .none) { samples.append((labels, value)) }

  /// By their labels, each once.
  var sorted: [(labels: MetricLabels, value: Value)] {
    var seen: Set<MetricLabels> = []
    return samples.filter { seen.insert($0.labels).inserted }.sorted { $0.labels < $1.labels }
  }

  /// The same with the series of another family of this name.
  mutating func take(_ other: MetricFamily) {
    precondition(other.kind == kind, "\(name) is a \(kind) and a \(other.kind)")
    samples += other.samples
  }
}

package struct HistogramFigures: Equatable, Sendable {
  /// The upper bounds, inclusive, ascending, without the infinite one.
  package let bounds: [Double]
  /// Observations in each bucket alone, and at the end those above the last bound.
  package let counts: [UInt64]
  package let sum: Double

  /// There is one count more than bounds.
  package init(bounds: [Double], counts: [UInt64], sum: Double) {
    precondition(counts.count == bounds.count + 1, "\(counts.count) counts for \(bounds.count) bounds")
    self.bounds = bounds
    self.counts = counts
    self.sum = sum
  }
}

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
  var overflow: MetricLabels { MetricLabels(pairs: pairs.map { Pair(name: $0.name, value: Self.other) }) }
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

/// What is known of a family before anything is counted: its help, the bounds of its buckets, and how many series it may
/// have.
package struct MetricDescription: Sendable {
  /// The series that a family has at the most unless it says otherwise. With the one for all others it is the most that a
  /// mistake with a label can cost.
  package static let seriesMaxDefault = 64

  /// As the code that counts names it.
  package let name: String
  package let help: String
  /// What the family is; nothing else may be made of its name.
  package let kind: MetricFamily.Kind
  /// Of a histogram, in its unit, ascending.
  package let bounds: [Double]
  /// Series that are counted separately; all beyond are counted together, with `other` as every label's value.
  package let seriesMax: Int

  package init(
    _ name: String, _ help: String, _ kind: MetricFamily.Kind = .histogram, bounds: [Double] = HistogramBounds.usual,
    seriesMax: Int = seriesMaxDefault
  ) {
    precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "the bounds of \(name) do not ascend")
    precondition(seriesMax > 0, "\(name) has room for no series")
    self.name = MetricName.family(name)
    self.help = help
    self.kind = kind
    self.bounds = bounds
    self.seriesMax = seriesMax
  }
}

/// Bounds of buckets, in seconds, inclusive.
package enum HistogramBounds {
  /// From a millisecond to a minute, for what needs no precision: three in each power of ten.
  package static let usual: [Double] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
  ]

  /// From a quarter of a millisecond to a minute, for what is promised in milliseconds.
  /// A quantile that is read from buckets is off by less than the bucket it falls into: a quarter of a millisecond up to
  /// 4 ms, half of one up to 10 ms, one up to 20 ms, and at most a third of itself from there to a minute, where
  /// milliseconds do not matter. 73 bounds; a series of them is 7 KB of text and 3 KB of memory.
  package static let fine: [Double] = milliseconds.map { Double($0) / 1000 }

  private static let milliseconds: [Double] =
    steps(of: 0.25, to: 4) + steps(of: 0.5, from: 4, to: 10) + steps(of: 1, from: 10, to: 20)
    + [25, 30, 40, 50, 60, 80] + decade(100) + decade(1000) + [10000, 12500, 15000, 20000, 25000, 30000, 40000, 50000]
    + [60000]

  private static func steps(of width: Double, from start: Double = 0, to end: Double) -> [Double] {
    (1...Int(((end - start) / width).rounded())).map { start + Double($0) * width }
  }

  private static func decade(_ start: Double) -> [Double] {
    [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8].map { $0 * start }
  }
}

/// Families in the text format of Prometheus, version 0.0.4.
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
