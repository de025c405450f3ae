/// What one text says of times.
public struct TemporalReading: Equatable, Sendable {
  /// Its references, in its order.
  public let references: [TemporalReference]
  /// Events that are called off, or moved to a time that is not said: `presentation` of *the presentation got cancelled*.
  /// None of them has a reference that is still to come.
  public let calledOff: Set<String>

  init(references: [TemporalReference], calledOff: [String]) {
    self.references = references
    let upcoming = references.filter { $0.standing == .upcoming }.compactMap(\.event)
    self.calledOff = Set(calledOff).subtracting(upcoming)
  }
}
