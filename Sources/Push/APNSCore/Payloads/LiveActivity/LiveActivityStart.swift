/// Starts a Live Activity by a push to the push-to-start token of its attributes type; iOS 17.2 and later.
public struct LiveActivityStart: Equatable, Sendable {
  /// How the new activity gets its updates; iOS 18 and later.
  public enum Input: Equatable, Sendable {
    /// By an update token of its own, which the app receives.
    case pushToken
    /// By a broadcast channel. A device with an older system does not start the activity at all.
    case channel(ChannelIdentifier)
  }

  /// The name of the app's `ActivityAttributes` type.
  public let attributesType: String
  /// What never changes while the activity lives, in the form that `JSONEncoder` gives it without any strategy set.
  public let attributes: PayloadObject
  /// What changes, in the same form.
  public let contentState: PayloadObject
  /// What tells the user; without it the system starts nothing.
  public internal(set) var alert: LiveActivityAlert
  /// When what is shown is out of date, in Unix seconds.
  public let staleDate: Int64?
  /// The place among the app's activities, where the highest is shown; any number.
  public let relevanceScore: FiniteNumber?
  /// How updates will come; nil leaves it to the app.
  public let input: Input?

  /// - Throws: `valueEmpty` without a type.
  public init(
    attributesType: String,
    attributes: PayloadObject,
    contentState: PayloadObject,
    alert: LiveActivityAlert,
    staleDate: Int64? = nil,
    relevanceScore: FiniteNumber? = nil,
    input: Input? = nil
  ) throws(PushRequestError) {
    guard !attributesType.isEmpty else { throw PushRequestError(.valueEmpty, "an activity needs its attributes type") }
    self.attributesType = attributesType
    self.attributes = attributes
    self.contentState = contentState
    self.alert = alert
    self.staleDate = staleDate
    self.relevanceScore = relevanceScore
    self.input = input
  }
}

extension JSONBytes {
  mutating func append(_ start: LiveActivityStart) {
    append(member: "attributes-type", text: start.attributesType)
    append(member: "attributes", object: start.attributes)
    append(member: "content-state", object: start.contentState)
    append(start.alert)
    append(member: "stale-date", integer: start.staleDate)
    append(member: "relevance-score", number: start.relevanceScore?.value)
    switch start.input {
    case .pushToken: append(member: "input-push-token", flag: true)
    case .channel(let channel): append(member: "input-push-channel", text: channel.text)
    case nil: break
    }
  }
}
