internal import Campaigns
internal import HTTP1
internal import HTTPTypes
internal import PushRules
internal import PushStore
internal import Reactors

/// `GET /v1/config`: what an app needs to show slots by itself.
enum ConfigRoute {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    group.addForClients(.get, "/v1/config", load: .look) { _, request, reactor in
      let services = services.value(on: reactor)
      let categories = try await services.slotScheduler.categories(on: reactor)
      let flags = try await services.callers.configFlags(on: reactor)
      return request.conditionalAnswer(ConfigAnswer.json(flags, categories))
    }
  }
}

/// Flags and categories as JSON.
enum ConfigAnswer {
  /// Of the Android channel.
  private static let channelImportance = "high"

  static func json(_ flags: SlotFlags, _ categories: [SlotCategory]) -> [UInt8] {
    var object = PayloadObject()
    object["flags"] = .object(document(flags))
    object["channels"] = .array([
      .object([
        "id": .string(flags.androidChannelId), "name": .string(flags.androidChannelName),
        "importance": .string(channelImportance),
      ])
    ])
    object["categories"] = .array(categories.map { .object(document($0)) })
    return object.encoded()
  }

  private static func document(_ flags: SlotFlags) -> PayloadObject {
    var document: PayloadObject = [
      "scheduler": .string(flags.scheduler), "mode": .string(flags.mode.rawValue),
      "prefetchLeadMinutes": .integer(Int64(flags.prefetchLeadMinutes)),
      "ttlSeconds": .integer(Int64(flags.ttlSeconds)),
      "iosCategoryIdentifier": .string(flags.iosCategoryIdentifier),
      "androidChannelId": .string(flags.androidChannelId),
      "androidChannelName": .string(flags.androidChannelName), "prefetchRunner": .string(flags.prefetchRunner),
      "runnerRearm": .boolean(flags.runnerRearm),
    ]
    if let address = flags.imageBaseURL { document["imageBaseURL"] = .string(address) }
    return document
  }

  private static func document(_ category: SlotCategory) -> PayloadObject {
    ["id": .string(category.id), "actions": .array(category.actions.map { .object(document($0)) })]
  }

  private static func document(_ action: SlotAction) -> PayloadObject {
    [
      "id": .string(action.id), "title": .string(action.title),
      "options": .array(action.isForeground ? ["foreground"] : []),
    ]
  }
}
