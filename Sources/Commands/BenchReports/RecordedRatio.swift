import FoundationEssentials

/// A ratio as a measurement had it once.
public struct RecordedRatio: Codable, Equatable, Sendable {
  /// What was recorded.
  public let ratio: RatioDefinition
  /// Over the rounds of that measurement.
  public let recorded: Spread

  /// - Returns: `nil` when the runs lack it.
  init?(_ ratio: RatioDefinition, in runs: BenchRuns) {
    guard let spread = ratio.quantity.spread(in: runs) else { return nil }
    self.ratio = ratio
    recorded = spread
  }

  init(_ ratio: RatioDefinition, recorded: Spread) {
    self.ratio = ratio
    self.recorded = recorded
  }

  /// Those of the definitions that the runs have.
  public static func all(
    of definitions: [RatioDefinition] = RatioDefinition.all, in runs: BenchRuns
  ) -> [RecordedRatio] {
    definitions.compactMap { RecordedRatio($0, in: runs) }
  }

  /// Reads the text of a file that `json` has made.
  /// - Throws: `unreadableRatios`; a file without ratios is none.
  public static func all(json: String) throws(BenchReportError) -> [RecordedRatio] {
    guard let ratios = try? JSONDecoder().decode([RecordedRatio].self, from: Data(json.utf8)), !ratios.isEmpty else {
      throw .unreadableRatios
    }
    return ratios
  }

  /// The text of a file of recorded ratios, which changes in few lines when a value does.
  public static func json(_ ratios: [RecordedRatio]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(ratios), as: UTF8.self) + "\n"
  }
}
