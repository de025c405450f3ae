internal import DequeModule

/// Lint findings: how often each was made, and the latest in full.
public struct LintLog: Sendable {
  /// A finding and the request it was made on.
  public struct Entry: Codable, Equatable, Sendable {
    /// What was found.
    public let code: LintFinding.Code
    /// Which member or field.
    public let detail: String
    /// The number of the request in the push log.
    public let push: Int
  }

  /// Enough to see a pattern; the counters tell how common it is.
  private static let entriesMax = 1000

  /// How often each was made.
  public private(set) var counts: [LintFinding.Code: Int] = [:]

  private var kept: Deque<Entry> = []

  /// No findings.
  public init() {}

  /// The latest findings, oldest first.
  public var entries: [Entry] { Array(kept) }

  /// Adds the findings on one request.
  mutating func append(_ findings: [LintFinding], push: Int) {
    for finding in findings {
      counts[finding.code, default: 0] += 1
      if kept.count == Self.entriesMax { kept.removeFirst() }
      kept.append(Entry(code: finding.code, detail: finding.detail, push: push))
    }
  }
}
