internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Operations
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// `POST` of `read` and of `opened`: an app says what its user has read, and which push led there.
enum ReadRoutes {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    group.addForClients(.post, "/v1/conversations/{id}/read", hasContent: true, load: .write) {
      user, request, reactor in
      let types = services.value(on: reactor).idTypes
      let body =
        request.body.isEmpty
        ? ReadBody() : try RequestContent.decode(ReadBody.self, from: request.body, idTypes: types)
      let report = ReadReport(
        conversationID: try request.id("id", of: types.conversations), userID: user, upToMessageID: body.upToMessageID,
        deviceToken: body.deviceToken)
      return try await read(report, services.value(on: reactor), on: reactor)
    }
    group.addForClients(.post, "/v1/pushes/{push_log_id}/opened") { user, request, reactor in
      let id = try request.uuid("push_log_id")
      guard try await services.value(on: reactor).callers.recordOpening(id, by: user, on: reactor) else {
        throw ProblemDetails(.notFound, detail: "There is no such push.")
      }
      services.value(on: reactor).activity.note(user, on: reactor)
      return HTTPServerResponse(status: .noContent)
    }
  }

  private static func read(
    _ report: ReadReport, _ services: PushServices, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    switch try await services.callers.read(report, isSynced: services.isReadSyncEnabled, on: reactor) {
    case .refused(let standing):
      try standing.requireViewer(of: .conversation(report.conversationID))
      preconditionFailure("a viewer's report is not refused")
    case .unknownMessage:
      throw ProblemDetails(
        .notFound, detail: "The conversation has no such message.",
        extensions: [("field", .string("up_to_message_id"))])
    case .marked(let count, let badge, let syncWait):
      services.activity.note(report.userID, on: reactor)
      if let syncWait { services.pipeline.expectWork(after: syncWait, on: reactor) }
      return HTTPServerResponse(
        status: .ok, fields: [.contentType: "application/json"], body: ReadAnswer(badge: badge, read: count).json)
    }
  }
}

/// What an app sends. All of it may be left out.
struct ReadBody: Decodable {
  var upToMessageID: HostID?
  var deviceToken: String?

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case upToMessageID = "up_to_message_id"
    case deviceToken = "device_token"
  }

  init() {}

  init(from decoder: any Decoder) throws {
    let container = try decoder.members(CodingKeys.self)
    upToMessageID = try container.decodeIDIfPresent(\.messages, forKey: .upToMessageID)
    deviceToken = try container.decodeIfPresent(String.self, forKey: .deviceToken)
    try container.require(
      deviceToken.map(Self.isToken) != false, .deviceToken,
      "must be 2 to \(DeviceToken.digitsMax) hexadecimal digits, an even number")
  }

  /// Whether a text can be a token at all, as `DeviceToken` says.
  private static func isToken(_ text: String) -> Bool {
    let digits = text.utf8
    return (2...DeviceToken.digitsMax).contains(digits.count) && digits.count.isMultiple(of: 2)
      && digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
  }
}

struct ReadAnswer: JSONAnswer {
  /// Unread messages left.
  let badge: Int
  /// Messages marked now.
  let read: Int
}
