public import PushStore

/// What the ledger and another sender agree on, and what they do not.
public struct SenderComparison: Sendable {
  /// What two verdicts on one pair of event and recipient come to.
  public enum Agreement: String, CaseIterable, Sendable {
    /// Both pushed.
    case bothPushed = "both_pushed"
    /// Neither did.
    case bothSilent = "both_silent"
    /// The other sender alone.
    case onlyOther = "only_other"
    /// Tacet alone.
    case onlyTacet = "only_tacet"

    /// Whether the recipient's phone would have shown something else.
    public var isDifference: Bool { self == .onlyOther || self == .onlyTacet }
  }

  /// Pairs that agree or differ for one cause.
  public struct Row: Equatable, Sendable {
    /// What they come to.
    public let agreement: Agreement
    /// The reason of the one that did not push: the ledger's, or what the other sender did. Nil where both pushed.
    public let cause: String?
    /// How many pairs.
    public let pairs: Int
    /// Some of them, three at most.
    public let examples: [ComparedVerdicts.Example]
  }

  /// The time, in microseconds since 1970; the end is outside.
  public let time: Range<Int64>
  /// The kinds that were compared.
  public let kinds: [String]
  /// By agreement, the most frequent cause first.
  public let rows: [Row]
  /// By how much Tacet's pushes were later where both pushed, in microseconds, negative for earlier: the median and what 99 of 100
  /// do not exceed. Nil where they never both pushed.
  public let lateness: (median: Int64, percentile99: Int64)?
  /// Pushes with a sound.
  public let sounds: ComparedSounds

  /// Reckons.
  public init(_ verdicts: [ComparedVerdicts], sounds: ComparedSounds, time: Range<Int64>, kinds: [String]) {
    self.time = time
    self.kinds = kinds
    self.sounds = sounds
    var rows: [Row] = []
    for verdict in verdicts {
      let (agreement, cause) = (verdict.agreement, verdict.cause)
      if let known = rows.firstIndex(where: { $0.agreement == agreement && $0.cause == cause }) {
        rows[known] = Row(
          agreement: agreement, cause: cause, pairs: rows[known].pairs + verdict.pairs,
          examples: Array((rows[known].examples + verdict.examples).prefix(3)))
      } else {
        rows.append(Row(agreement: agreement, cause: cause, pairs: verdict.pairs, examples: verdict.examples))
      }
    }
    self.rows = Agreement.allCases.flatMap { agreement in
      rows.filter { $0.agreement == agreement }.sorted { ($1.pairs, $0.cause ?? "") < ($0.pairs, $1.cause ?? "") }
    }
    let both = verdicts.first { $0.agreement == .bothPushed }
    lateness = both?.medianLateness.flatMap { median in both?.percentile99Lateness.map { (median, $0) } }
  }

  /// How many pairs came to this.
  public func pairs(_ agreement: Agreement) -> Int {
    rows.reduce(0) { $0 + ($1.agreement == agreement ? $1.pairs : 0) }
  }

  /// All pairs.
  public var total: Int { rows.reduce(0) { $0 + $1.pairs } }

  /// Pairs about which the senders differ.
  public var differences: Int { pairs(.onlyOther) + pairs(.onlyTacet) }
}

extension ComparedVerdicts {
  var agreement: SenderComparison.Agreement {
    switch (ours == "pushed", theirs == "pushed") {
    case (true, true): .bothPushed
    case (true, false): .onlyTacet
    case (false, true): .onlyOther
    case (false, false): .bothSilent
    }
  }

  /// Why the one that did not push was silent.
  var cause: String? {
    switch agreement {
    case .bothPushed: nil
    case .onlyTacet: theirs == "failed" ? "failed: \(outcome ?? "unknown")" : "nothing"
    case .onlyOther, .bothSilent:
      switch ours {
      case "unknown": "unknown to Tacet"
      case "skipped": reason ?? "unknown"
      default: "\(ours): \(reason ?? "unknown")"
      }
    }
  }
}
