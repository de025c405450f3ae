/// Numbers as people read them.
enum Decimals {
  /// Three digits that count, and all of those before the point: `0.0123`, `1.23`, `45.6`, `12345`.
  static func measured(_ value: Double) -> String {
    switch value.magnitude {
    case 100...: fixed(value, digits: 0)
    case 10...: fixed(value, digits: 1)
    case 1...: fixed(value, digits: 2)
    default: fixed(value, digits: 3)
    }
  }

  /// As it was written down: without a point when there is nothing behind it.
  static func plain(_ value: Double) -> String {
    guard value.isFinite else { return "\(value)" }
    return value == value.rounded() && value.magnitude < 1e15 ? String(Int(value)) : String(value)
  }

  /// Rounded half away from zero.
  static func fixed(_ value: Double, digits: Int) -> String {
    guard value.isFinite, value.magnitude < 1e12 else { return "\(value)" }
    let factor = (0..<digits).reduce(1) { product, _ in product * 10 }
    let scaled = Int((value.magnitude * Double(factor)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(scaled)" }
    let fraction = String(scaled % factor)
    return "\(sign)\(scaled / factor).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
  }
}

extension Spread {
  /// Such as `1.25 (1.10 … 1.31)`; of one measurement, its value.
  var text: String {
    guard count > 1 else { return Decimals.measured(median) }
    return "\(Decimals.measured(median)) (\(Decimals.measured(lowest)) … \(Decimals.measured(highest)))"
  }
}
