/// What is known of a family before anything is counted: its help, the bounds of its buckets, and how many series it may
/// have.
public struct MetricDescription: Sendable {
  /// The series that a family has at the most unless it says otherwise. With the one for all others it is the most that a
  /// mistake with a label can cost.
  public static let seriesMaxDefault = 64

  /// As the code that counts names it.
  public let name: String

  /// A sentence for people.
  public let help: String

  /// What the family is; nothing else may be made of its name.
  public let kind: MetricFamily.Kind

  /// Of a histogram, in its unit, ascending.
  public let bounds: [Double]

  /// Series with labels of their own; what comes beyond is counted together, with `other` as every label's value.
  public let seriesMax: Int

  /// Describes a counter or a gauge.
  public init(
    _ name: String, _ help: String, _ kind: MetricFamily.Kind, seriesMax: Int = seriesMaxDefault
  ) {
    self.init(name, help, kind, bounds: HistogramBounds.usual, seriesMax: seriesMax)
  }

  /// Describes a histogram.
  public init(_ name: String, _ help: String, bounds: [Double], seriesMax: Int = seriesMaxDefault) {
    self.init(name, help, .histogram, bounds: bounds, seriesMax: seriesMax)
  }

  private init(_ name: String, _ help: String, _ kind: MetricFamily.Kind, bounds: [Double], seriesMax: Int) {
    precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "the bounds of \(name) do not ascend")
    precondition(seriesMax > 0, "\(name) has room for no series")
    self.name = MetricName.family(name)
    self.help = help
    self.kind = kind
    self.bounds = bounds
    self.seriesMax = seriesMax
  }
}
