public import Explanations
public import FoundationEssentials
internal import PushStore
public import Reactors

extension PushServices {
  /// Recipients of one event that are told about, and the recorded claims after which no more are. Pushes wait while a
  /// reactor puts them into words, and a recipient may have forty claims, so they are bounded together. Whoever wants more
  /// asks the command, which has a process of its own.
  private static let recipientsExplainedMax = 100
  private static let entriesExplainedMax = 400

  /// Why the pushes of every event with a subject were sent or not, as far as one answer tells.
  /// - Parameters:
  ///   - kind: of the one event to tell about; nil for all that there are.
  ///   - userID: the one recipient to tell about; nil for all.
  /// - Throws: `PostgresError`.
  public func explanations(
    ofSubject id: UUID, kind: String? = nil, userID: UUID? = nil, on reactor: isolated Reactor
  ) async throws -> [EventExplanation] {
    try await operators.records(
      ofSubject: id, kind: kind, userID: userID, recipientsMax: Self.recipientsExplainedMax,
      entriesMax: Self.entriesExplainedMax, on: reactor
    ).map(EventExplanation.init)
  }
}
