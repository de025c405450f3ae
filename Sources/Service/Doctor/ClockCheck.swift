internal import PushStore

/// Whether this machine and the database agree on the time.
///
/// All ages are the database's, so a decision does not depend on this machine. What does: provider tokens (APNs takes them
/// for an hour), clients' tokens (60 s of leeway), and webhooks that triggers sign (300 s).
enum ClockCheck {
  static let name = "clock"

  /// Clocks kept by NTP differ by less than a tenth of a second; beyond two seconds one of them is not kept, and goes on
  /// drifting.
  static let warningFrom = Duration.seconds(2)
  /// From here on clients' tokens that are good are refused.
  static let failureFrom = Duration.seconds(60)

  static func judge(_ comparison: ClockComparison) -> CheckFinding {
    let distance = max(comparison.difference, .zero - comparison.difference)
    // What is certain of it.
    let least = max(distance - comparison.uncertainty, .zero)
    let side = comparison.difference > .zero ? "behind" : "ahead of"
    let measure = "within \(Words.duration(comparison.uncertainty)) of measurement"
    if least < warningFrom {
      return CheckFinding(name, .ok, "\(Words.duration(distance)) from the database's, \(measure)")
    }
    return CheckFinding(
      name, least < failureFrom ? .warning : .failure,
      "this machine's is \(Words.duration(distance)) \(side) the database's, \(measure)",
      remedy: "keep both by NTP; the times of requests, tokens and signatures depend on it")
  }
}
