public import PushStore
public import Reactors

/// Which pushes are decided again, and by which rules.
public struct ReplayRequest: Equatable, Sendable {
  /// Pushes that were committed in it; microseconds since 1970.
  public var span: Range<Int64>
  /// Of one kind; nil for all.
  public var kind: String?
  /// The changed rules.
  public var rules: ReplayRules
  /// The newest pushes that are replayed; nil for all of the span.
  public var rowsMax: Int?
  /// Pushes that are read at once. Between two pages the reactor does other work.
  public var pageRows = 500
  /// Examples of each change.
  public var examplesMax = 3

  /// Replays a span by unchanged rules.
  public init(span: Range<Int64>, kind: String? = nil, rules: ReplayRules = ReplayRules()) {
    self.span = span
    self.kind = kind
    self.rules = rules
  }

  /// Reads the ledger, a page at a time, and decides what it has. Nothing is sent or written.
  /// - Throws: `PostgresError`.
  public func run(in store: PushDatabase, on reactor: isolated Reactor) async throws -> ReplayReport {
    var tally = ReplayTally(rules, examplesMax: examplesMax)
    let start = try await beginning(in: store, on: reactor)
    var last: RecordedPush?
    while true {
      let page = try await store.recordedPushes(
        from: start, after: last, until: span.upperBound, kind: kind, size: pageRows, on: reactor)
      for push in page { tally.add(push) }
      guard page.count == pageRows else { break }
      last = page.last
    }
    return tally.report(of: start..<span.upperBound, isCut: start > span.lowerBound)
  }

  private func beginning(in store: PushDatabase, on reactor: isolated Reactor) async throws -> Int64 {
    guard let rowsMax else { return span.lowerBound }
    return try await store.beginning(
      from: span.lowerBound, until: span.upperBound, rowsMax: rowsMax, on: reactor)
  }
}
