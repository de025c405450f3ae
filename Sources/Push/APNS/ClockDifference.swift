internal import FoundationEssentials

/// How far this machine's clock is from that of APNs, as the `date` field of an answer tells it.
struct ClockDifference: Equatable {
  /// Differences of so many seconds deserve a word; less is the age of the answer, or a clock as clocks are.
  private static let notableSeconds: Int64 = 60

  /// Positive when this machine is ahead.
  let seconds: Int64

  var isNotable: Bool { abs(seconds) >= Self.notableSeconds }

  /// For an operator.
  var words: String {
    "this machine's clock is \(abs(seconds)) s \(seconds < 0 ? "behind" : "ahead of") that of APNs"
  }

  /// This machine's wall clock, in Unix seconds.
  static var wallSeconds: Int64 { Int64(Date().timeIntervalSince1970) }
}

extension ClockDifference {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Compares with an answer's date.
  /// - Parameters:
  ///   - date: an IMF-fixdate (RFC 9110 §5.6.7), `Sun, 06 Nov 1994 08:49:37 GMT`; nil comes of any other text.
  ///   - now: Unix seconds.
  init?(date: String, now: Int64) {
    let parts = date.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 6, parts[5] == "GMT", let month = Self.months.firstIndex(of: String(parts[2])),
      let day = Int(parts[1]), let year = Int(parts[3]), (1...9999).contains(year), (1...31).contains(day)
    else { return nil }
    let time = parts[4].split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
    guard time.count == 3, let hour = time[0], let minute = time[1], let second = time[2],
      (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
    else { return nil }
    let components = DateComponents(
      timeZone: .gmt, year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    let calendar = Calendar(identifier: .gregorian)
    guard components.isValidDate(in: calendar), let instant = calendar.date(from: components) else { return nil }
    seconds = now - Int64(instant.timeIntervalSince1970)
  }
}
