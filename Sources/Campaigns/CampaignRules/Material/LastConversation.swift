/// The conversation the user took part in last.
public struct LastConversation: Equatable, Sendable {
  /// What it was about, as the host names it, such as `work`; nil or blank when the host does not say.
  public var domain: String?
  /// The texts of its last few messages, newest first.
  public var texts: [String]

  /// A conversation.
  public init(domain: String?, texts: [String]) {
    self.domain = domain
    self.texts = texts
  }
}
