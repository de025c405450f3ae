internal import CampaignRules

/// Instants as logs have them. A log has millions, so they are read by hand.
enum SenderLogTime {
  /// Reads RFC 3339 and what PostgreSQL prints (`2026-11-26 10:00:00.5+00`), of the years 2000 to 2999, and seconds or milliseconds
  /// since 1970. Without a zone it is UTC. Nil for anything else.
  static func microseconds(of text: String) -> Int64? {
    var scanner = Scanner(rest: Array(text.utf8)[...])
    guard text.utf8.count > 4, Array(text.utf8)[4] == UInt8(ascii: "-") else { return sinceEpoch(&scanner) }
    return instant(&scanner)
  }

  private static func instant(_ scanner: inout Scanner) -> Int64? {
    guard let year = scanner.number(4), (2000...2999).contains(year), scanner.take("-") != nil,
      let month = scanner.number(2), scanner.take("-") != nil, let day = scanner.number(2),
      let date = CivilDay(year: Int(year), month: Int(month), day: Int(day)), scanner.take("Tt ") != nil,
      let hour = scanner.number(2), hour < 24, scanner.take(":") != nil, let minute = scanner.number(2), minute < 60,
      scanner.take(":") != nil, let second = scanner.number(2), second < 60, let fraction = scanner.fraction(),
      let zone = scanner.zoneMinutes(), scanner.rest.isEmpty
    else { return nil }
    let minutes = Int64(date.number) * 1440 + hour * 60 + minute - zone
    return (minutes * 60 + second) * 1_000_000 + fraction
  }

  /// Seconds have up to eleven digits, and perhaps a fraction; milliseconds have more.
  private static func sinceEpoch(_ scanner: inout Scanner) -> Int64? {
    let digits = scanner.digits
    guard (1...14).contains(digits), let number = scanner.number(digits) else { return nil }
    if digits > 11 { return scanner.rest.isEmpty ? number * 1000 : nil }
    guard let fraction = scanner.fraction(), scanner.rest.isEmpty else { return nil }
    return number * 1_000_000 + fraction
  }
}

/// Takes digits and signs from the front of a text.
private struct Scanner {
  var rest: ArraySlice<UInt8>

  /// How many digits come next.
  var digits: Int { rest.prefix { (0x30...0x39).contains($0) }.count }

  /// The number of exactly so many digits, at most 18.
  mutating func number(_ count: Int) -> Int64? {
    guard digits >= count else { return nil }
    let number = rest.prefix(count).reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
    rest = rest.dropFirst(count)
    return number
  }

  /// The next byte, if it is one of these.
  mutating func take(_ signs: String) -> UInt8? {
    guard let first = rest.first, signs.utf8.contains(first) else { return nil }
    rest = rest.dropFirst()
    return first
  }

  /// Microseconds of a fraction with up to nine digits; zero without one, nil for a point alone.
  mutating func fraction() -> Int64? {
    guard take(".") != nil else { return 0 }
    let count = digits
    guard (1...9).contains(count), let number = number(count) else { return nil }
    return (count..<9).reduce(number) { number, _ in number * 10 } / 1000
  }

  /// `Z`, `+01`, `+0130` or `+01:30`; nothing is UTC.
  mutating func zoneMinutes() -> Int64? {
    if rest.isEmpty || take("Zz") != nil { return 0 }
    guard let sign = take("+-"), let hours = number(2), hours < 15 else { return nil }
    var minutes: Int64 = 0
    if !rest.isEmpty {
      _ = take(":")
      guard let given = number(2), given < 60 else { return nil }
      minutes = given
    }
    return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 60 + minutes)
  }
}
