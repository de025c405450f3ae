internal import Channels
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// `/v1/notifications/…`: what the service worker of a browser asks and reports. Its proof is the token of its subscription,
/// because a worker that a push has woken has no user's token. Strangers' tokens are refused by ``WorkerTokens``.
enum WorkerRoutes {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>, _ offer: WebPushOffer) {
    group.addForWorkers(.get, "/v1/notifications/latest") { token, _, reactor in
      let callers = services.value(on: reactor).callers
      let (isKnown, latest) = try await callers.latestPush(fetchDigest: token.digest, on: reactor)
      guard isKnown else { throw ProblemDetails.unknownSubscription }
      guard let document = try latest.flatMap({ try document(of: $0, offer) })
      else { return HTTPServerResponse(status: .noContent) }
      return HTTPServerResponse(
        status: .ok, fields: [.contentType: "application/json", .cacheControl: "no-store"], body: document)
    }
    group.addForWorkers(.post, "/v1/notifications/events", hasContent: true) { token, request, reactor in
      let body = try RequestContent.decode(WorkerEventsBody.self, from: request.body)
      let services = services.value(on: reactor)
      let user = try await services.callers.recordOpenings(body.openings, fetchDigest: token.digest, on: reactor)
      guard let user else { throw ProblemDetails.unknownSubscription }
      if !body.openings.isEmpty { services.activity.note(user, on: reactor) }
      return HTTPServerResponse(status: .noContent)
    }
  }

  /// The document of a push; nil for one that shows nothing.
  private static func document(of latest: LatestPush, _ offer: WebPushOffer) throws -> [UInt8]? {
    guard let push = try latest.content.alert(about: latest.subject), let alert = push.alert else { return nil }
    let outgoing = OutgoingPush(
      push, to: PushTarget(.webPush, address: ""), of: latest.userID, about: latest.subject,
      enqueuedAt: latest.enqueuedAt, unread: latest.badge, expiresAt: 0)
    return try WebPushNotification(alert, of: outgoing, links: offer.links).fitted()
  }
}

/// What users did with notifications, as a worker reports it.
struct WorkerEventsBody: Decodable {
  static let eventsMax = 100

  private struct Event: Decodable {
    let logID: UUID
    let isOpening: Bool

    private enum Key: String, CodingKey, CaseIterable {
      case event, action, at
      case logID = "push_log_id"
    }

    init(from decoder: any Decoder) throws {
      let body = try decoder.members(Key.self)
      let id = try body.decodeText(.logID, "must be a UUID") { UUID(hyphenated: $0) != nil }
      guard let id = id.flatMap(UUID.init(hyphenated:)) else {
        throw DecodingError.keyNotFound(Key.logID, .init(codingPath: decoder.codingPath, debugDescription: ""))
      }
      logID = id
      let event = try body.decodeText(.event, "must be opened, action or dismissed") {
        ["opened", "action", "dismissed"].contains($0)
      }
      isOpening = event != "dismissed"
    }
  }

  /// Rows of the ledger whose pushes were opened, by a click on the notification or on one of its buttons.
  let openings: [UUID]

  private enum Key: String, CodingKey, CaseIterable { case events }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    try body.requireFew(.events, Self.eventsMax, "elements")
    let events = try body.decode([Event].self, forKey: .events)
    openings = events.filter(\.isOpening).map(\.logID)
  }
}
