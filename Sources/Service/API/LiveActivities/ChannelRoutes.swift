internal import APNS
internal import APNSCore
internal import Callers
internal import Explanations
internal import FoundationEssentials
internal import HTTPServing
internal import HTTPTypes
internal import PushKinds
internal import PushPipeline
internal import PushStore
internal import Reactors

/// `/v1/live-activities/channels`: broadcast channels, by which one push brings a state to everyone who follows.
///
/// A channel is noted before Apple makes it, so that its name is taken once. Making one twice would make two: a request without an
/// answer is not repeated, and the name is free again.
enum ChannelRoutes {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    let pattern = "/v1/live-activities/channels"
    group.addForServices(.post, pattern, hasContent: true) { request, reactor in
      let body = try RequestContent.decode(ChannelBody.self, from: request.body)
      return try await create(body, services.value(on: reactor), on: reactor)
    }
    group.addForServices(.get, pattern) { _, reactor in
      let channels = try await services.value(on: reactor).callers.channels(on: reactor)
      let list = channels.map { PayloadValue.object(document($0)) }
      return HTTPServerResponse(json: (["channels": .array(list)] as PayloadObject).encoded())
    }
    group.addForClients(.get, pattern + "/{id}") { _, request, reactor in
      let channel = try await known(try LiveActivityID.read(request), services.value(on: reactor), on: reactor)
      return HTTPServerResponse(json: document(channel).encoded())
    }
    group.addForServices(.post, pattern + "/{id}", hasContent: true) { request, reactor in
      let services = services.value(on: reactor)
      let channel = try await known(try LiveActivityID.read(request), services, on: reactor)
      let body = try RequestContent.decode(LiveActivityUpdateBody.self, from: request.body)
      return try await LiveActivityRoutes.update(channel.id, body, services, on: reactor)
    }
    group.addForServices(.post, pattern + "/{id}/end", hasContent: true) { request, reactor in
      let services = services.value(on: reactor)
      let channel = try await known(try LiveActivityID.read(request), services, on: reactor)
      let body = try RequestContent.decode(LiveActivityEndBody.self, from: request.body)
      return try await LiveActivityRoutes.end(channel.id, body, services, on: reactor)
    }
    group.addForServices(.delete, pattern + "/{id}") { request, reactor in
      let services = services.value(on: reactor)
      let channel = try await known(try LiveActivityID.read(request), services, on: reactor)
      if let id = channel.channelID.flatMap({ try? ChannelIdentifier($0) }) {
        let (desk, app, environment) = try desk(channel.app, channel.environment, services)
        try await telling { try await desk.delete(id, in: app, of: environment, on: reactor) }
      }
      _ = try await services.callers.dropChannel(channel.id, on: reactor)
      return HTTPServerResponse(status: .noContent)
    }
  }

  private static func create(
    _ body: ChannelBody, _ services: PushServices, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    let (desk, app, environment) = try desk(body.app, body.environment, services)
    let isNoted = try await LiveActivityRoutes.refusingDocuments {
      try await services.callers.noteChannel(
        body.id, type: body.type, state: body.state, app: app.text, environment: environment.rawValue,
        storage: body.storage, on: reactor)
    }
    guard isNoted else { throw ProblemDetails(.conflict, detail: "Another channel or Live Activity has this id.") }
    do {
      let channel = try await telling {
        try await desk.create(in: app, of: environment, storage: body.storage, on: reactor)
      }
      _ = try await services.callers.completeChannel(body.id, channelID: channel.text, on: reactor)
    } catch {
      _ = try? await services.callers.dropChannel(body.id, on: reactor)
      throw error
    }
    let channel = try await known(body.id, services, on: reactor)
    return HTTPServerResponse(status: .created, json: document(channel).encoded())
  }

  /// What manages the channels of an app; the default one without a name.
  private static func desk(
    _ app: String?, _ environment: String?, _ services: PushServices
  ) throws -> (APNSChannels, BundleIdentifier, APNSEnvironment) {
    guard !services.shadow.covers(LiveActivityPush.name) else {
      throw ProblemDetails.unprocessable("app", "SHADOW is set: no channel is made or deleted at Apple.")
    }
    guard let desk = services.channels(app, environment) else {
      throw ProblemDetails.unprocessable("app", "app is not configured.")
    }
    return (desk.channels, desk.route.app, desk.route.environment)
  }

  /// 502 for what APNs has refused or not answered.
  private static func telling<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error as APNSChannelsError {
      let detail = error.isOutcomeUnknown ? " It may have been done all the same." : ""
      throw ProblemDetails(
        .badGateway, detail: "APNs did not do it: \(error.reason).\(detail)",
        extensions: [("reason", .string(error.reason))])
    }
  }

  private static func known(
    _ id: String, _ services: PushServices, on reactor: isolated Reactor
  ) async throws -> BroadcastChannel {
    guard let channel = try await services.callers.channels(id, on: reactor).first else {
      throw ProblemDetails(.notFound, detail: "There is no such channel.")
    }
    return channel
  }

  private static func document(_ channel: BroadcastChannel) -> PayloadObject {
    var object: PayloadObject = [
      "id": .string(channel.id), "type": .string(channel.type), "version": .integer(Int64(channel.version)),
      "state": .object(channel.state), "storage": channel.storage == .newest ? "newest" : "none",
      "is_ended": .boolean(channel.isEnded),
    ]
    object["channel_id"] = channel.channelID.map { .string($0) }
    object["app"] = channel.app.map { .string($0) }
    object["environment"] = channel.environment.map { .string($0) }
    object["gone_because"] = channel.goneBecause.map { .string($0) }
    return object
  }
}

/// A channel to make.
private struct ChannelBody: Decodable {
  let id: String
  let type: String
  let state: String?
  let app: String?
  let environment: String?
  let storage: ChannelStorage

  private enum Key: String, CodingKey, CaseIterable {
    case id, type, state, app, environment, storage
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    id = try body.decode(String.self, forKey: .id)
    try body.require(
      LiveActivityID.isWellFormed(id), .id, "must be 1 to \(LiveActivityID.bytesMax) visible characters")
    type = try body.decode(String.self, forKey: .type)
    state = try body.decodeDocument(.state)
    app = try body.decodeApp(.app)
    environment = try body.decodeEnvironment(.environment)
    storage =
      try body.decodeText(.storage, "must be none or newest", ["none", "newest"].contains) == "none"
      ? .nothing : .newest
  }
}
