internal import Cryptography

package struct SettingParser<Value>: Sendable {
  private let parse: @Sendable (String) throws(UnusableValue) -> Value

  package init(_ parse: @escaping @Sendable (String) throws(UnusableValue) -> Value) { self.parse = parse }

  /// - Parameter text: not empty, without white space around it.
  package func callAsFunction(_ text: String) throws(UnusableValue) -> Value { try parse(text) }

  /// A parser with one fault, which is where there is no value.
  package init(_ fault: String, expected expectation: String, _ value: @escaping @Sendable (String) -> Value?) {
    self.init { text throws(UnusableValue) in
      guard let value = value(text) else { throw UnusableValue(fault, expected: expectation) }
      return value
    }
  }

  /// A parser whose fault is the message of an error.
  package init<Failure: FaultMessage>(
    expected expectation: String, _ value: @escaping @Sendable (String) throws(Failure) -> Value
  ) {
    self.init { text throws(UnusableValue) in
      do throws(Failure) {
        return try value(text)
      } catch {
        throw UnusableValue(error.message, expected: expectation)
      }
    }
  }

  package func map<Other>(_ change: @escaping @Sendable (Value) -> Other) -> SettingParser<Other> {
    SettingParser<Other> { [parse] text throws(UnusableValue) in change(try parse(text)) }
  }
}

/// Why the text of a setting gives no value. Says nothing of the text itself, since it may be secret.
package struct UnusableValue: Error, Equatable {
  /// What is wrong, as the end of a sentence that begins with the key.
  package let fault: String
  package let expectation: String

  package init(_ fault: String, expected expectation: String) {
    self.fault = fault
    self.expectation = expectation
  }
}

/// An error whose message can be read after "is not usable:".
package protocol FaultMessage: Error {
  var message: String { get }
}

extension PushRequestError: FaultMessage {}

// Numbers, switches and choices as operators write them. Both ends of a range are included.

extension SettingParser<Int> {
  package static func integer(in range: ClosedRange<Int>) -> Self {
    number("a whole number", range, "a whole number from \(range.lowerBound) to \(range.upperBound)") { Int($0) }
  }

  /// Dollars, as millionths of them; a fraction of up to six digits is allowed.
  package static func microdollars(dollarsMax: Int) -> Self {
    let expectation = "dollars from 0 to \(dollarsMax), with at most six digits after the point"
    return number("an amount of money", 0...dollarsMax * 1_000_000, expectation) { millionths($0, digitsMax: 6) }
  }

  fileprivate static func number(
    _ noun: String, _ range: ClosedRange<Int>, _ expectation: String, _ read: @escaping @Sendable (String) -> Int?
  ) -> Self {
    Self { text throws(UnusableValue) in
      guard let number = read(text) else { throw UnusableValue("not \(noun)", expected: expectation) }
      guard range.contains(number) else { throw UnusableValue("out of range", expected: expectation) }
      return number
    }
  }

  /// A time of the day as `HH:MM`, in minutes after midnight.
  package static var timeOfDay: Self {
    Self("not a time of the day", expected: "hours and minutes from 00:00 to 23:59") { text in
      let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hours = digits(parts[0]),
        let minutes = digits(parts[1]), hours < 24, minutes < 60
      else { return nil }
      return hours * 60 + minutes
    }
  }
}

extension SettingParser<Double> {
  /// Dollars; a fraction of up to six digits is allowed.
  package static func dollars(max: Int) -> Self {
    SettingParser<Int>.microdollars(dollarsMax: max).map { Double($0) / 1_000_000 }
  }
}

extension SettingParser<Duration> {
  /// Seconds; a fraction of up to three digits is allowed.
  package static func seconds(in range: ClosedRange<Int>) -> Self {
    let expectation =
      "seconds from \(range.lowerBound) to \(range.upperBound), with at most three digits after the point"
    let microseconds = range.lowerBound * 1_000_000...range.upperBound * 1_000_000
    return SettingParser<Int>.number("a number of seconds", microseconds, expectation) { millionths($0, digitsMax: 3) }
      .map { .microseconds($0) }
  }

  package static func wholeSeconds(in range: ClosedRange<Int>) -> Self {
    SettingParser<Int>.integer(in: range).map { .seconds($0) }
  }

  /// Milliseconds without a fraction.
  package static func milliseconds(in range: ClosedRange<Int>) -> Self {
    SettingParser<Int>.integer(in: range).map { .milliseconds($0) }
  }
}

extension SettingParser<Bool> {
  /// `true` or `false`, also as yes and no, on and off, 1 and 0, in any case.
  package static var boolean: Self {
    Self("neither yes nor no", expected: "true or false") { text in
      switch text.lowercased() {
      case "true", "yes", "on", "1": true
      case "false", "no", "off", "0": false
      default: nil
      }
    }
  }
}

extension SettingParser where Value: RawRepresentable<String> & CaseIterable & Sendable {
  /// One of the raw values of an enumeration, in any case.
  package static var choice: Self {
    let choices = Value.allCases.map(\.rawValue).joined(separator: ", ")
    return Self("not a known choice", expected: choices) { text in
      Value.allCases.first { $0.rawValue == text.lowercased() }
    }
  }
}

extension SettingParser<UInt32> {
  /// Octal digits up to 777, perhaps after zeros, as `chmod` takes them.
  package static var fileMode: Self {
    Self("no file mode", expected: "octal permissions such as 0660") { text in
      guard text.utf8.allSatisfy({ (0x30...0x37).contains($0) }), let mode = UInt32(text, radix: 8), mode <= 0o777
      else { return nil }
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

extension SettingParser<String> {
  package static var text: Self { Self { text throws(UnusableValue) in text } }

  /// A P-256 key as PEM text. In a setting of one line, `\n` stands for the end of a line, as many tools write it.
  ///
  /// The value is the key in one form, however it was written: white space is no new key.
  package static func privateKey(expected expectation: String) -> Self {
    Self("not a P-256 private key", expected: expectation) { text in
      let pem = text.split(separator: #"\n"#, omittingEmptySubsequences: false).joined(separator: "\n")
      return try? P256PrivateKey(pem: pem).pem
    }
  }
}

extension SettingParser<BundleIdentifier> {
  package static var bundleIdentifier: Self {
    Self(expected: "an identifier such as com.example.app") { text throws(PushRequestError) in
      try BundleIdentifier(text)
    }
  }
}
