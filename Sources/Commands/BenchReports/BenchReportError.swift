/// Why runs, or recorded ratios, cannot be read.
public enum BenchReportError: Error, Equatable, CustomStringConvertible {
  /// No run is on this line, counted from 1.
  case unreadableLine(Int)
  /// The same figure of the same round is there twice, as when the runs of two measurements were put together.
  case measuredTwice(FigurePath, round: Int)
  /// The file of recorded ratios is not one.
  case unreadableRatios

  /// A sentence for whoever has started the report.
  public var description: String {
    switch self {
    case .unreadableLine(let line): "line \(line) is no run of a scenario"
    case .measuredTwice(let path, let round):
      "\(path.figure) of \(path.subject) in \(path.scenario), round \(round), is there twice"
    case .unreadableRatios: "this is no file of recorded ratios"
    }
  }
}
