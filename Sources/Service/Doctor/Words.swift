/// Durations and counts as people read them.
enum Words {
  /// Two digits and the unit that fits: `850 ms`, `12 s`, `4 min`, `3 h`, `2 days`. Never negative.
  static func duration(_ duration: Duration) -> String {
    let milliseconds = max(
      0, duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000)
    let units: [(name: String, size: Int64, below: Int64)] = [
      ("ms", 1, 1000), ("s", 1000, 120_000), ("min", 60_000, 7_200_000), ("h", 3_600_000, 172_800_000),
    ]
    guard let unit = units.first(where: { milliseconds < $0.below }) else { return "\(milliseconds / 86_400_000) days" }
    return "\(milliseconds / unit.size) \(unit.name)"
  }

  /// A count that was stopped at a bound says so.
  static func count(_ count: Int, of bound: Int, _ one: String, _ many: String) -> String {
    count >= bound ? "at least \(bound) \(many)" : "\(count) \(count == 1 ? one : many)"
  }
}
