/// Why a document cannot be read as rules.
public struct ReplayRulesError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The member, as a path such as `kinds.coach.window_seconds`; nil when the whole document is to blame.
  public let member: String?
  /// What is wrong with it, to be read behind the member.
  public let fault: String

  init(_ member: String?, _ fault: String) {
    self.member = member
    self.fault = fault
  }

  /// One line for the author of the document.
  public var description: String { member.map { "\($0) \(fault)" } ?? "the rules \(fault)" }
}
