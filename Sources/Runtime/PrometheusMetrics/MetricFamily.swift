/// The series of one name, as they are at the moment of a scrape.
package struct MetricFamily: Equatable, Sendable {
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

  package mutating func add(_ value: Value, _ labels: MetricLabels = .none) {
    samples.append((labels, value))
  }

  /// Equal in every series, in any order.
  package static func == (one: MetricFamily, other: MetricFamily) -> Bool {
    guard one.name == other.name, one.help == other.help, one.kind == other.kind else { return false }
    let (mine, theirs) = (one.sorted, other.sorted)
    return mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0 == $1 }
  }

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

  /// Joins what was counted; there is one count more than bounds.
  package init(bounds: [Double], counts: [UInt64], sum: Double) {
    precondition(counts.count == bounds.count + 1, "\(counts.count) counts for \(bounds.count) bounds")
    self.bounds = bounds
    self.counts = counts
    self.sum = sum
  }
}
