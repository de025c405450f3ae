/// Small words.
enum Words {
  /// `1 device`, `2 devices`.
  static func devices(_ count: Int) -> String { counted(count, "device") }

  /// A number and a noun.
  static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
