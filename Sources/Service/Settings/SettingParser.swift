struct SettingParser<Value>: Sendable {
  private let parse: @Sendable (String) throws(UnusableValue) -> Value

  init(_ parse: @escaping @Sendable (String) throws(UnusableValue) -> Value) { self.parse = parse }

  /// - Parameter text: not empty, without white space around it.
  func callAsFunction(_ text: String) throws(UnusableValue) -> Value { try parse(text) }
}

/// Why the text of a setting gives no value. Says nothing of the text itself, since it may be secret.
struct UnusableValue: Error, Equatable {
  /// What is wrong, as the end of a sentence that begins with the key.
  let fault: String
  let expectation: String

  init(_ fault: String, expected expectation: String) {
    self.fault = fault
    self.expectation = expectation
  }
}

// Numbers, switches and choices as operators write them. Both ends of a range are included.

extension SettingParser<Int> {
  static func integer(in range: ClosedRange<Int>) -> Self {
    Self { text throws(UnusableValue) in
      let expectation = "a whole number from \(range.lowerBound) to \(range.upperBound)"
      guard let number = Int(text) else { throw UnusableValue("not a whole number", expected: expectation) }
      guard range.contains(number) else { throw UnusableValue("out of range", expected: expectation) }
      return number
    }
  }

  /// Dollars, as millionths of them; a fraction of up to six digits is allowed.
  static func microdollars(dollarsMax: Int) -> Self {
    Self { text throws(UnusableValue) in
      let expectation = "dollars from 0 to \(dollarsMax), with at most six digits after the point"
      guard let amount = millionths(text, digitsMax: 6) else {
        throw UnusableValue("not an amount of money", expected: expectation)
      }
      guard amount <= dollarsMax * 1_000_000 else { throw UnusableValue("out of range", expected: expectation) }
      return amount
    }
  }

  /// A time of the day as `HH:MM`, in minutes after midnight.
  static var timeOfDay: Self {
    Self { text throws(UnusableValue) in
      let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hours = digits(parts[0]),
        let minutes = digits(parts[1]), hours < 24, minutes < 60
      else {
        throw UnusableValue("not a time of the day", expected: "hours and minutes from 00:00 to 23:59")
      }
      return hours * 60 + minutes
    }
  }
}

extension SettingParser<Double> {
  /// Dollars; a fraction of up to six digits is allowed.
  static func dollars(max: Int) -> Self {
    let microdollars = SettingParser<Int>.microdollars(dollarsMax: max)
    return Self { text throws(UnusableValue) in Double(try microdollars(text)) / 1_000_000 }
  }
}

extension SettingParser<Duration> {
  /// Seconds; a fraction of up to three digits is allowed.
  static func seconds(in range: ClosedRange<Int>) -> Self {
    Self { text throws(UnusableValue) in
      let expectation =
        "seconds from \(range.lowerBound) to \(range.upperBound), with at most three digits after the point"
      guard let microseconds = millionths(text, digitsMax: 3) else {
        throw UnusableValue("not a number of seconds", expected: expectation)
      }
      guard (range.lowerBound * 1_000_000...range.upperBound * 1_000_000).contains(microseconds) else {
        throw UnusableValue("out of range", expected: expectation)
      }
      return .microseconds(microseconds)
    }
  }

  static func wholeSeconds(in range: ClosedRange<Int>) -> Self {
    let integer = SettingParser<Int>.integer(in: range)
    return Self { text throws(UnusableValue) in .seconds(try integer(text)) }
  }

  /// Milliseconds without a fraction.
  static func milliseconds(in range: ClosedRange<Int>) -> Self {
    let integer = SettingParser<Int>.integer(in: range)
    return Self { text throws(UnusableValue) in .milliseconds(try integer(text)) }
  }
}

extension SettingParser<Bool> {
  /// `true` or `false`, also as yes and no, on and off, 1 and 0, in any case.
  static var boolean: Self {
    Self { text throws(UnusableValue) in
      switch text.lowercased() {
      case "true", "yes", "on", "1": return true
      case "false", "no", "off", "0": return false
      default: throw UnusableValue("neither yes nor no", expected: "true or false")
      }
    }
  }
}

extension SettingParser where Value: RawRepresentable<String> & CaseIterable & Sendable {
  /// One of the raw values of an enumeration, in any case.
  static var choice: Self {
    let choices = Value.allCases.map { ($0.rawValue, $0) }
    return Self { text throws(UnusableValue) in
      if let choice = choices.first(where: { $0.0 == text.lowercased() }) { return choice.1 }
      throw UnusableValue("not a known choice", expected: choices.map(\.0).joined(separator: ", "))
    }
  }
}

extension SettingParser<UInt32> {
  /// Octal digits up to 777, perhaps after zeros, as `chmod` takes them.
  static var fileMode: Self {
    Self { text throws(UnusableValue) in
      guard text.utf8.allSatisfy({ (0x30...0x37).contains($0) }), let mode = UInt32(text, radix: 8), mode <= 0o777
      else {
        throw UnusableValue("no file mode", expected: "octal permissions such as 0660")
      }
      return mode
    }
  }
}

/// A decimal number in millionths; nil for anything but up to nine digits and, behind a point, one to so many more.
private func millionths(_ text: String, digitsMax: Int) -> Int? {
  let parts = text.split(separator: ".", omittingEmptySubsequences: false)
  guard parts.count <= 2, parts[0].utf8.count <= 9, let whole = digits(parts[0]) else { return nil }
  guard parts.count == 2 else { return whole * 1_000_000 }
  guard parts[1].utf8.count <= digitsMax, let fraction = digits(parts[1]) else { return nil }
  return (parts[1].utf8.count..<6).reduce(fraction) { number, _ in number * 10 } + whole * 1_000_000
}

private func digits(_ text: Substring) -> Int? {
  text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
}

extension StringProtocol where SubSequence == Substring {
  package var trimmed: Substring {
    var rest = drop(while: \.isWhitespace)
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    return rest
  }
}
