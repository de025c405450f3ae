public import CampaignRules
public import PushStore
public import Reactors

/// Whoever writes check-ins: a language model, behind its client.
public protocol CheckInWriter {
  /// The most tokens that one call for a prompt may use, read and written, and what they may cost.
  func usageMax(of prompt: CheckInPrompt) -> CampaignUsage

  /// Writes one text. Bounded in time.
  func write(_ prompt: CheckInPrompt, on reactor: isolated Reactor) async -> WrittenText
}

/// What became of a call for a text.
public struct WrittenText: Sendable {
  /// The text, or why there is none: a reason as records name it.
  public var text: Result<String, WritingFailure>
  /// What the call has used, as far as the writer knows.
  public var usage: CampaignUsage

  /// Describes one.
  public init(_ text: Result<String, WritingFailure>, usage: CampaignUsage = CampaignUsage()) {
    self.text = text
    self.usage = usage
  }
}

/// Why nothing was written.
public struct WritingFailure: Error, Equatable, Sendable {
  /// A word for records and metrics, such as `model_timed_out`.
  public let reason: String

  /// Names a failure.
  public init(_ reason: String) { self.reason = reason }
}
