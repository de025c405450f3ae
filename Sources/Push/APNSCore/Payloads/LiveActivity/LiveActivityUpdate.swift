/// Changes what a Live Activity shows.
public struct LiveActivityUpdate: Equatable, Sendable {
  /// What is shown from now on, in the form that `JSONEncoder` gives it without any strategy set.
  public let contentState: PayloadObject
  /// What tells the user about the change; nil changes it silently.
  public internal(set) var alert: LiveActivityAlert?
  /// When what is shown is out of date, in Unix seconds.
  public let staleDate: Int64?
  /// The place among the app's activities, where the highest is shown; any number.
  public let relevanceScore: FiniteNumber?

  /// Each parameter is the property of the same name.
  public init(
    contentState: PayloadObject,
    alert: LiveActivityAlert? = nil,
    staleDate: Int64? = nil,
    relevanceScore: FiniteNumber? = nil
  ) {
    self.contentState = contentState
    self.alert = alert
    self.staleDate = staleDate
    self.relevanceScore = relevanceScore
  }
}

extension JSONBytes {
  mutating func append(_ update: LiveActivityUpdate) {
    append(member: "content-state", object: update.contentState)
    append(update.alert)
    append(member: "stale-date", integer: update.staleDate)
    append(member: "relevance-score", number: update.relevanceScore?.value)
  }
}
