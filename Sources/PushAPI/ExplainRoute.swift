internal import FoundationEssentials
internal import HTTP1
internal import HTTPServing
internal import HTTPTypes
internal import PushExplanations
internal import PushStore
internal import Reactors

/// `GET /v1/explain`: why somebody was pushed, or was not.
enum ExplainRoute {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    group.addForServices(.get, "/v1/explain") { request, reactor in
      let question = try ExplainQuestion(request.head)
      let explanations = try await services.value(on: reactor).explanations(
        ofSubject: question.subjectID, kind: question.kind, userID: question.userID, on: reactor)
      guard explanations.contains(where: \.isKnown) else {
        throw ProblemDetails(.notFound, detail: explanations.first?.summary ?? "Nothing is known of it.")
      }
      return HTTPServerResponse(json: EventExplanation.json(explanations))
    }
  }
}

/// What is asked, by the parameters of the query.
struct ExplainQuestion: Equatable {
  let subjectID: UUID
  let userID: UUID?
  let kind: String?

  private static let names = ["message_id", "user_id", "kind"]

  /// Each parameter once at the most, in its form, and none that is not known: a misspelt `user_id` would be answered with
  /// everybody.
  init(_ head: RequestHead) throws(ProblemDetails) {
    let parameters = head.queryParameters
    let sent = (head.query ?? "").split(separator: "&").count
    guard parameters.count == sent, parameters.allSatisfy({ Self.names.contains($0.name) }) else {
      throw .content(nil, "The parameters are message_id, user_id and kind.")
    }
    for name in Self.names where parameters.count(where: { $0.name == name }) > 1 {
      throw .content(name, "\(name) must come once.")
    }
    guard let subjectID = try Self.uuid("message_id", in: head) else {
      throw .content("message_id", "message_id is missing.")
    }
    self.subjectID = subjectID
    userID = try Self.uuid("user_id", in: head)
    kind = head.queryValue("kind")
    guard kind.map(PushSubject.canBeKind) != false else {
      throw .content("kind", "kind must be 1 to 63 small letters, digits and underscores, a letter first.")
    }
  }

  private static func uuid(_ name: String, in head: RequestHead) throws(ProblemDetails) -> UUID? {
    guard let text = head.queryValue(name) else { return nil }
    guard let id = UUID(hyphenated: text) else { throw .content(name, "\(name) must be a UUID.") }
    return id
  }
}
