internal import APNSCore
internal import Delivery
internal import FoundationEssentials

/// How far this machine's clock is from that of APNs, by the `date` field of an answer.
struct ClockDifference: Equatable {
  /// Differences worth a log line, in seconds; less is the age of the answer, or ordinary drift.
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
  ///   - date: an IMF-fixdate (RFC 9110 §5.6.7), `Sun, 06 Nov 1994 08:49:37 GMT`; any other text gives nil.
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

/// The wait that an answer asks for with `retry-after` (RFC 9110 §10.2.3). APNs does not document it; proxies and gateways in
/// front of APNs send it.
enum RetryAfter {
  /// The longest wait that counts: Apple's own after a fault of its service.
  static let longest = PushDisposition.serviceFaultWait

  /// - Parameters:
  ///   - text: seconds in digits, or a date; any other text gives nil.
  ///   - date: the answer's `date`, from which a date in `text` counts, so that no two clocks are compared.
  static func wait(_ text: String?, date: String?) -> Duration? {
    guard let text, !text.isEmpty else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return min(Int64(text).map { .seconds($0) } ?? longest, longest)
    }
    guard let end = ClockDifference(date: text, now: 0), let now = date.flatMap({ ClockDifference(date: $0, now: 0) })
    else { return nil }
    return max(.zero, min(.seconds(now.seconds - end.seconds), longest))
  }
}
