/// Groups of digits with one kind of separator between them, such as `15`, `3:30`, `2/20` or `2026-03-15`.
struct NumericToken: Equatable {
  /// The numbers, at least one and at most three, each below 10,000.
  let groups: [Int]
  /// How many digits each was written with.
  let digits: [Int]
  /// What stands between them; nil for a single one.
  let separator: Unicode.Scalar?

  /// The number, when it is a single one.
  var single: Int? { groups.count == 1 ? groups[0] : nil }

  /// Both numbers, when there are two with this separator.
  func pair(separatedBy separator: Unicode.Scalar) -> (Int, Int)? {
    groups.count == 2 && self.separator == separator ? (groups[0], groups[1]) : nil
  }
}
