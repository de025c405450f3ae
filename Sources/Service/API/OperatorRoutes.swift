internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Operations
internal import PushRules
internal import PushStore
internal import Reactors

/// `/healthz`, `/readyz` and the description of the interface.
enum OperatorRoutes {
  static func add(to routes: inout HTTPRoutes, _ services: PerReactor<PushServices>) {
    // The process runs and its reactor turns.
    let healthy = HTTPServerResponse(HTTPServerResponse(json: Array(#"{"status":"ok"}"#.utf8)).prepared)
    let openapi = HTTPServerResponse(
      status: .ok, fields: [.contentType: "application/yaml"], body: Array(EmbeddedFiles.openapi_yaml.utf8))
    let bytesMax = RouteGroup.bodyBytesMax
    routes.add(.get, "/healthz", bodyBytesMax: bytesMax, isHealthCheck: true, immediate: { _, _ in healthy })
    // 200 when messages are pushed as they should be, 503 with the reasons otherwise.
    routes.add(
      .get, "/readyz", bodyBytesMax: bytesMax, isHealthCheck: true,
      handler: { _, reactor in
        let checks = await services.value(on: reactor).readiness()
        let isReady = checks.allSatisfy(\.isReady)
        return HTTPServerResponse(
          status: isReady ? .ok : .serviceUnavailable,
          ["checks": .list(checks.map(\.document)), "ready": .boolean(isReady)])
      })
    routes.add(.get, "/openapi.yaml", bodyBytesMax: bytesMax, immediate: { _, _ in openapi })
  }
}

package struct ReadinessCheck: Sendable {
  /// The part that says which pushes are not sent. It is ready, and for operators to notice all the same.
  package static let shadow = "shadow"

  /// The part that was looked at, such as `database`.
  package let name: String

  package let isReady: Bool

  /// For the operator: what is wrong, or what the settings do without; nil when there is nothing to say.
  package let detail: String?

  fileprivate var document: PayloadObject {
    ["detail": .text(detail), "name": .text(name), "ready": .boolean(isReady)]
  }

  package init(_ name: String, isReady: Bool, detail: String? = nil) {
    self.name = name
    self.isReady = isReady
    self.detail = detail
  }
}

/// `GET /v1/explain`: why a user was pushed, or was not.
enum ExplainRoute {
  static func add(to group: inout RouteGroup) {
    group.addForServices(.get, "/v1/explain") { request, services, reactor in
      switch try ExplainQuestion(request.head, services.idTypes) {
      case .event(let subjectID, let userID, let kind):
        let explanations = try await services.explanations(
          ofSubject: subjectID, kind: kind, userID: userID, on: reactor)
        guard explanations.contains(where: \.isKnown) else {
          throw ProblemDetails(.notFound, detail: explanations.first?.summary ?? "Nothing is known of it.")
        }
        return HTTPServerResponse(json: EventExplanation.json(explanations))
      case .campaign(let name, let userID, let day):
        let story = try await services.operators.campaignStory(of: userID, campaign: name, day: day, on: reactor)
        let explanation = CampaignExplanation(story, campaign: name, userID: userID.text)
        guard explanation.isKnown else { throw ProblemDetails(.notFound, detail: explanation.summary) }
        return HTTPServerResponse(json: explanation.json)
      }
    }
  }
}

/// What is asked, by the parameters of the query.
enum ExplainQuestion: Equatable {
  /// About an event, and one of its recipients or all.
  case event(HostID, userID: HostID?, kind: String?)
  /// About what a campaign decided about a user, on one day or on those that are kept.
  case campaign(String, userID: HostID, day: String?)

  /// Each parameter at most once, in its form, and no unknown one: a misspelt `user_id` would be answered with all users.
  /// Which of them belong together is said by 422, because the description of the interface cannot.
  init(_ head: RequestHead, _ types: IDTypes = IDTypes()) throws(ProblemDetails) {
    let query = try StrictQuery(head, known: ["message_id", "user_id", "kind", "campaign", "day"])
    let userID = try query.id("user_id", of: types.users)
    guard let campaign = try query.name("campaign") else {
      if query["day"] != nil { throw .unprocessable("day", "day is of a campaign; campaign is missing.") }
      guard let subjectID = try query.id("message_id", of: types.subjects) else {
        throw .unprocessable("message_id", "message_id is missing.")
      }
      self = .event(subjectID, userID: userID, kind: try query.name("kind"))
      return
    }
    for other in ["message_id", "kind"] where query[other] != nil {
      throw .unprocessable(other, "\(other) and campaign exclude each other.")
    }
    guard let userID else { throw .unprocessable("user_id", "user_id is missing.") }
    self = .campaign(campaign, userID: userID, day: try Self.day(query["day"]))
  }

  private static func day(_ text: String?) throws(ProblemDetails) -> String? {
    guard let text else { return nil }
    guard InstantText.isDate(text) else { throw .content("day", "day must be a date like 2026-11-22.") }
    return text
  }
}
