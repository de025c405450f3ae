/// How sure a reference is.
///
/// The numbers are judgements, not measured frequencies. What matters is the order, and on which side of 0.7 each lies:
/// at 0.7 and above a reader may be told *your presentation is tomorrow*.
enum ConfidenceScale {
  /// An event, its day, and a verb or phrase that says it lies ahead.
  static let clear = 0.9
  /// An event and its day, but no verb that says when: *presentation Friday*.
  static let bare = 0.8
  /// The event was named in an earlier sentence: *it's on Friday*. Such words mostly mean the latest event, not always.
  static let inherited = 0.75
  /// An event in a week, month or year: nobody can say that it is tomorrow.
  static let coarse = 0.5
  /// A day of which nothing known is said.
  static let eventless = 0.4
  /// Somebody else's event: it will be, but not for the reader.
  static let anothers = 0.3
  /// Possible, supposed, asked for.
  static let hypothetical = 0.3
  /// Called off or over. Not zero, as the words may have been misread.
  static let gone = 0.05

  /// The confidence of a reference.
  static func confidence(
    _ standing: TemporalStanding, hasEvent: Bool, isInherited: Bool, isAhead: Bool, grain: TemporalGrain
  ) -> Double {
    switch standing {
    case .past, .cancelled: return gone
    case .hypothetical: return hypothetical
    case .anothers: return anothers
    case .upcoming: break
    }
    guard hasEvent else { return eventless }
    guard grain.namesDay else { return coarse }
    if isInherited { return inherited }
    return isAhead ? clear : bare
  }
}
