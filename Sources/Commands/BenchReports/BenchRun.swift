/// What one run of a scenario has measured.
///
/// Everything that measures prints its runs, each as one line of JSON; everything that judges reads those lines.
public struct BenchRun: Codable, Sendable, Equatable {
  /// What was done, such as `messages-notify-300`.
  public var scenario: String

  /// What it was done to: `tacet`, a database or build that it is compared with, or a reference such as `h2load`.
  public var subject: String

  /// Runs of one round belong together: they were measured right after one another, in changing order. From 1.
  public var round: Int

  /// What was measured, by names that end in their unit, such as `accepted_p50_ms`.
  public var figures: [String: Double]

  /// A run.
  public init(scenario: String, subject: String, round: Int, figures: [String: Double]) {
    self.scenario = scenario
    self.subject = subject
    self.round = round
    self.figures = figures
  }
}
