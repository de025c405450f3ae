/// Numbers and switches as operators write them.
enum SettingNumbers {
  /// A whole number within bounds, both included.
  static func integer(_ text: String, in range: ClosedRange<Int>) throws(UnusableValue) -> Int {
    let expectation = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard let number = Int(text) else { throw UnusableValue("not a whole number", expected: expectation) }
    guard range.contains(number) else { throw UnusableValue("out of range", expected: expectation) }
    return number
  }

  /// A number of seconds within bounds, both included; a fraction of up to three digits is allowed.
  static func seconds(_ text: String, in range: ClosedRange<Int>) throws(UnusableValue) -> Duration {
    let expectation =
      "seconds from \(range.lowerBound) to \(range.upperBound), with at most three digits after the point"
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard let whole = digits(parts[0], atMost: 9), parts.count <= 2,
      let fraction = parts.count == 2 ? digits(parts[1], atMost: 3) : 0
    else {
      throw UnusableValue("not a number of seconds", expected: expectation)
    }
    let scale = parts.count == 2 ? [1, 100, 10, 1][parts[1].count] : 1
    let duration = Duration.seconds(whole) + .milliseconds(fraction * scale)
    guard (Duration.seconds(range.lowerBound)...(.seconds(range.upperBound))).contains(duration) else {
      throw UnusableValue("out of range", expected: expectation)
    }
    return duration
  }

  /// Dollars, as millionths of them; a fraction of up to six digits is allowed.
  static func microdollars(_ text: String, dollarsMax: Int) throws(UnusableValue) -> Int {
    let expectation = "dollars from 0 to \(dollarsMax), with at most six digits after the point"
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard let whole = digits(parts[0], atMost: 9), parts.count <= 2,
      let fraction = parts.count == 2
        ? digits(parts[1] + String(repeating: "0", count: max(0, 6 - parts[1].utf8.count)), atMost: 6) : 0,
      parts.last?.isEmpty == false
    else {
      throw UnusableValue("not an amount of money", expected: expectation)
    }
    let amount = whole * 1_000_000 + fraction
    guard amount <= dollarsMax * 1_000_000 else { throw UnusableValue("out of range", expected: expectation) }
    return amount
  }

  /// A time of the day as `HH:MM`, in minutes after midnight.
  static func timeOfDay(_ text: String) throws(UnusableValue) -> Int {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hours = digits(parts[0], atMost: 2),
      let minutes = digits(parts[1], atMost: 2), hours < 24, minutes < 60
    else {
      throw UnusableValue("not a time of the day", expected: "hours and minutes from 00:00 to 23:59")
    }
    return hours * 60 + minutes
  }

  /// `true` or `false`, also as yes and no, on and off, 1 and 0, in any case.
  static func boolean(_ text: String) throws(UnusableValue) -> Bool {
    switch text.lowercased() {
    case "true", "yes", "on", "1": return true
    case "false", "no", "off", "0": return false
    default: throw UnusableValue("neither yes nor no", expected: "true or false")
    }
  }

  /// One of the raw values of an enumeration.
  static func choice<Choice: RawRepresentable & CaseIterable>(
    _ text: String, of type: Choice.Type = Choice.self
  ) throws(UnusableValue) -> Choice where Choice.RawValue == String {
    if let choice = Choice(rawValue: text.lowercased()) { return choice }
    throw UnusableValue("not a known choice", expected: Choice.allCases.map(\.rawValue).joined(separator: ", "))
  }

  private static func digits(_ text: some StringProtocol, atMost count: Int) -> Int? {
    guard (1...count).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int(text)
  }
}
