internal import HTTPServing
internal import SimulationControl

/// A movement of the simulated clock.
struct ClockDocument: ControlDocument {
  /// Negative moves it back.
  var advanceMilliseconds: Int64

  /// - Throws: `ProblemDetails` when that is more than a century.
  func check() throws(ProblemDetails) {
    guard advanceMilliseconds.magnitude <= ControlLimits.clockMillisecondsMax.magnitude else {
      throw ProblemDetails.unfit("advance_ms moves the clock by a century at most")
    }
  }

  enum CodingKeys: String, CodingKey, CaseIterable {
    case advanceMilliseconds = "advance_ms"
  }
}
