public import PushKinds

/// What a replay has found.
public struct ReplayReport: Equatable, Sendable {
  /// A row: pushes to which the same happens.
  public struct Change: Equatable, Sendable {
    /// What happens to them.
    public let effect: ReplayEffect
    /// How they ended, in words.
    public let before: String
    /// How they end by the changed rules, in words.
    public let after: String
    /// How many there are.
    public var count = 0
    /// By how much they are later or earlier, all together; nil where they are neither.
    public var shift: Duration?
    /// The first of them.
    public var examples: [ReplayExample] = []
  }

  /// The committed pushes that were replayed; microseconds since 1970.
  public var span: Range<Int64> = 0..<0
  /// Whether older pushes of the span were left out.
  public var isCut = false
  /// Pushes.
  public var pushes = 0
  /// Their decisions: claims that the ledger has.
  public var decisions = 0
  /// Pushes that went out, and those that go out by the changed rules as far as that is known.
  public var sent = (before: 0, after: 0)
  /// Pushes whose record contradicts the rules of then.
  public var inconsistent = 0
  /// The first of them.
  public var inconsistentExamples: [ReplayExample] = []
  /// In the order of effects, then the most frequent first.
  public var changes: [Change] = []
  /// Pushes of changes that no row has, because there were too many different ones.
  public var otherChanges = 0
  /// With sound, before and after; nil without folding.
  public var sounding: (before: Int, after: Int)?
  /// Pushes whose conversation is not recorded: they are counted as sounding.
  public var withoutSurface = 0

  /// Pushes that change, without those that depend on what was not recorded.
  public var differences: Int { changes.reduce(otherChanges) { $0 + ($1.effect == .notRecorded ? 0 : $1.count) } }

  /// How many pushes an effect has.
  public func count(_ effect: ReplayEffect) -> Int {
    changes.reduce(0) { $0 + ($1.effect == effect ? $1.count : 0) }
  }

  /// The same figures, rows and examples.
  public static func == (one: Self, other: Self) -> Bool {
    (one.span, one.isCut, one.pushes, one.decisions) == (other.span, other.isCut, other.pushes, other.decisions)
      && one.sent == other.sent && (one.inconsistent, one.otherChanges) == (other.inconsistent, other.otherChanges)
      && one.inconsistentExamples == other.inconsistentExamples && one.changes == other.changes
      && one.sounding?.before == other.sounding?.before && one.sounding?.after == other.sounding?.after
      && one.withoutSurface == other.withoutSurface
  }
}

/// A push that a report names.
public struct ReplayExample: Equatable, Sendable {
  /// The subject; nil in rows that another program wrote.
  public let subjectID: HostID?
  /// The kind of event.
  public let kind: String
  /// The recipient.
  public let userID: HostID
  /// When the event was committed; microseconds since 1970.
  public let enqueuedAt: Int64
  /// From the commit until it went out; nil where it did not.
  public let wait: Duration?
  /// The same by the changed rules.
  public let waitAfter: Duration?

  /// What tells its story; nil without a subject.
  public var command: String? {
    subjectID.map {
      "tacet explain --message \(Self.quoted($0.text)) --kind \(kind) --user \(Self.quoted(userID.text))"
    }
  }

  /// An id as a word of a shell: a host's may be any text.
  private static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D
    }
    return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
  }
}
