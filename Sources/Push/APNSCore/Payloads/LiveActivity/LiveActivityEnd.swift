/// Ends a Live Activity; the device ignores every later push to it.
public struct LiveActivityEnd: Equatable, Sendable {
  /// What is shown until it leaves the screen; nil leaves what was shown last.
  public let contentState: PayloadObject?
  /// What tells the user; nil ends it silently.
  public internal(set) var alert: LiveActivityAlert?
  /// When it leaves the Lock Screen, in Unix seconds: at once for a moment in the past, after up to four hours for nil.
  public let dismissalDate: Int64?

  /// Each parameter is the property of the same name.
  public init(contentState: PayloadObject?, alert: LiveActivityAlert? = nil, dismissalDate: Int64? = nil) {
    self.contentState = contentState
    self.alert = alert
    self.dismissalDate = dismissalDate
  }
}

extension JSONBytes {
  mutating func append(_ end: LiveActivityEnd) {
    append(member: "content-state", object: end.contentState)
    append(end.alert)
    append(member: "dismissal-date", integer: end.dismissalDate)
  }
}
