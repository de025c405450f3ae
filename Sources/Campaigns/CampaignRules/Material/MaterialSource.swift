/// Where a part of the material comes from. A host need not have every one of them.
public enum MaterialSource: String, CaseIterable, Sendable {
  /// The user's messages; they give the events, and also how long the user has been away.
  case messages
  /// The recognised patterns.
  case patterns
  /// The conversations with their domains.
  case conversations
  /// The profile with the context summary and the coaching preferences. No layer needs it: a check-in without it is
  /// written in the balanced style.
  case profile
}
