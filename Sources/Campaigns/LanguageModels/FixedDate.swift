internal import FoundationEssentials

/// A moment as servers write it: `Sun, 06 Nov 1994 08:49:37 GMT`, the preferred form of RFC 9110 section 5.6.7. The two
/// obsolete ones, which nobody writes, are not read.
struct FixedDate {
  /// Since 1970.
  let unixSeconds: Double

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Nil for any other form, and for a date that no calendar has.
  init?(_ text: String) {
    guard let parts = text.wholeMatch(of: /[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d:\d\d:\d\d) GMT/),
      let month = Self.months.firstIndex(of: String(parts.2))
    else { return nil }
    let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
    guard let date = try? Date("\(parts.3)-\(number)-\(parts.1)T\(parts.4)Z", strategy: .iso8601) else { return nil }
    unixSeconds = date.timeIntervalSince1970
  }
}
