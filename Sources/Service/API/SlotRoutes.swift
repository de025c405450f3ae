internal import Campaigns
internal import Cryptography
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Operations
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// `/v1/slots/{campaign}`: when a user gets what of a campaign; `GET /v1/schedule` and `GET /v1/config`: what a device is to show by
/// itself, and what it needs for that.
enum SlotRoutes {
  static func add(to group: inout RouteGroup) {
    let path = "/v1/slots/{campaign}"
    group.addForClients(.get, path, load: .look) { user, request, services, reactor in
      let campaign = try request.campaign
      let slots = try services.slotScheduler
      guard let found = try await slots.slots(of: campaign, for: user, on: reactor) else { throw unknown(campaign) }
      return HTTPServerResponse(SlotsDocument(enabled: found.isOn, slots: found.slots).json)
    }
    group.addForClients(.put, path, hasContent: true, load: .documentWrite) { user, request, services, reactor in
      let campaign = try request.campaign
      let document: SlotsDocument = try RequestContent.decode(from: request.body)
      let slots = try services.slotScheduler
      switch try await slots.choose(document.enabled, document.slots, of: campaign, for: user, on: reactor) {
      case .taken(let rows): return HTTPServerResponse(schedule(of: rows))
      case .unknownCampaign: throw unknown(campaign)
      case .unknownPhase(let place):
        throw ProblemDetails.content("slots[\(place)].phase", "The campaign \(campaign) has no slot of this phase.")
      }
    }
    group.addForUsers(.post, path + "/{slot}/deliver", load: .write) { user, request, services, reactor in
      try await deliver(request, to: user, services, on: reactor)
    }
    group.addForClients(.get, "/v1/schedule", load: .documentRead) { user, request, services, reactor in
      let query = try StrictQuery(request.head, known: ["days", "max", "device_token"])
      let (days, rowsMax) = (try query.number("days", max: 7), try query.number("max", max: 64))
      let token = query["device_token"].map { try? DeviceToken($0) }
      if let token, token == nil {
        throw ProblemDetails.content("device_token", "device_token must be \(DeviceToken.demand).")
      }
      let rows = try await services.slotScheduler.schedule(
        of: user, days: days, rowsMax: rowsMax, deviceToken: token??.hexadecimal, on: reactor)
      return request.conditionalAnswer(schedule(of: rows).encoded())
    }
    group.addForClients(.get, "/v1/config", load: .look) { _, request, services, reactor in
      let categories = try await services.slotScheduler.categories(on: reactor)
      let flags = try await services.callers.configFlags(on: reactor)
      return request.conditionalAnswer(config(flags, categories).encoded())
    }
  }

  private static func deliver(
    _ request: HTTPServerRequest, to user: HostID, _ services: PushServices, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    let (campaign, slot) = (try request.campaign, request.parameter("slot"))
    guard UserSlot.isSlot(slot) else { throw ProblemDetails.content("slot", "slot \(SlotsDocument.slotDemand).") }
    let slots = try services.slotScheduler
    switch try await services.callers.deliver(slot: slot, of: campaign, for: user, on: reactor) {
    case .queued(let id):
      services.pipeline.wake(.webhook, on: reactor)
      return HTTPServerResponse(["push_id": .string(id.lowercased), "queued": true])
    case .refused("unknown_slot"):
      guard try await slots.slots(of: campaign, for: user, on: reactor) != nil else { throw unknown(campaign) }
      throw ProblemDetails.content("slot", "The user has no slot \(slot) in the campaign \(campaign).")
    case .refused(let reason): return HTTPServerResponse(["queued": false, "reason": .string(reason)])
    }
  }

  private static func unknown(_ campaign: String) -> ProblemDetails {
    .content("campaign", "There is no slot campaign \(campaign) for this user.")
  }

  /// The tolerance of devices whose alarms are inexact, in seconds.
  private static let wideTolerance = 600

  private static func schedule(of rows: [ScheduledRow]) -> PayloadObject {
    [
      "settings_hint": .boolean(rows.contains { $0.toleranceSeconds >= wideTolerance }),
      "rows": .list(
        rows.map { row in
          [
            "identifier": .text(row.identifier), "campaign": .text(row.campaign), "slot": .text(row.slot),
            "fire_date": .text(row.fireDate), "fire_at": .instant(row.fireAt), "local_time": .text(row.localTime),
            "rendered_at": .instant(row.renderedAt),
            "title": .text(row.text.title), "body": .text(row.text.body), "category": .text(row.text.category),
            "thread_id": .text(row.threadID), "data": .object(data(of: row)),
            "tolerance_seconds": .count(row.toleranceSeconds),
          ]
        }),
    ]
  }

  /// The custom members of the same row's push.
  private static func data(of row: ScheduledRow) -> PayloadObject {
    let stored = try? JSONDecoder().decode(PayloadObject.self, from: Data(row.text.data.utf8))
    var data: PayloadObject = ["type": .string(row.campaign)]
    for (key, value) in stored?.members ?? [] { data[key] = value }
    return data
  }

  private static func config(_ flags: SlotFlags, _ categories: [SlotCategory]) -> PayloadObject {
    let told: PayloadObject = [
      "scheduler": .text(flags.scheduler), "mode": .text(flags.mode.rawValue),
      "prefetchLeadMinutes": .count(flags.prefetchLeadMinutes), "ttlSeconds": .count(flags.ttlSeconds),
      "iosCategoryIdentifier": .text(flags.iosCategoryIdentifier), "androidChannelId": .text(flags.androidChannelId),
      "androidChannelName": .text(flags.androidChannelName), "prefetchRunner": .text(flags.prefetchRunner),
      "runnerRearm": .boolean(flags.runnerRearm), "imageBaseURL": .text(flags.imageBaseURL),
    ]
    let channel: PayloadObject = [
      "id": .text(flags.androidChannelId), "name": .text(flags.androidChannelName), "importance": "high",
    ]
    return [
      "flags": .object(told), "channels": .list([channel]),
      "categories": .list(categories.map { ["id": .text($0.id), "actions": .list($0.actions.map(document))] }),
    ]
  }

  private static func document(_ action: SlotAction) -> PayloadObject {
    [
      "id": .text(action.id), "title": .text(action.title),
      "options": .array(action.isForeground ? ["foreground"] : []),
    ]
  }
}

extension StrictQuery {
  /// 1 to a bound, which is also the default, in decimal digits.
  fileprivate func number(_ name: String, max: Int) throws(ProblemDetails) -> Int {
    guard let text = self[name] else { return max }
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(text),
      (1...max).contains(number)
    else { throw .content(name, "\(name) must be a number from 1 to \(max).") }
    return number
  }
}

extension HTTPServerRequest {
  /// The campaign that the path names.
  fileprivate var campaign: String {
    get throws(ProblemDetails) {
      let campaign = parameter("campaign")
      guard PushSubject.canBeKind(campaign) else {
        throw .content("campaign", "campaign must be 1 to 63 small letters, digits and underscores, a letter first.")
      }
      return campaign
    }
  }
}

/// A user's slots in a campaign as JSON.
struct SlotsDocument {
  static let slotDemand = "must be a time from 0000 to 2359"
  private static let slotsMax = 24

  let enabled: Bool
  let slots: [UserSlot]

  /// Its members in the order of their names.
  var json: PayloadObject {
    let slots: [PayloadObject] = slots.map { slot in
      [
        "enabled": .boolean(slot.isEnabled), "phase": .text(slot.phase), "slot": .text(slot.slot),
        "weekdays": slot.weekdays.map { .array($0.map { .integer(Int64($0)) }) },
      ]
    }
    return ["enabled": .boolean(enabled), "slots": .list(slots)]
  }
}

extension SlotsDocument: Decodable {
  init(from decoder: any Decoder) throws {
    let body = try decoder.members("enabled", "slots")
    enabled = try body.decode(Bool.self, forKey: "enabled")
    slots = try body.decode([SlotDocument].self, forKey: "slots").map(\.slot)
    try body.require((1...Self.slotsMax).contains(slots.count), "slots", "must have 1 to \(Self.slotsMax) elements")
    try Self.requireOnce(slots.map(\.slot), "slot")
    try Self.requireOnce(slots.map(\.phase), "phase")
  }

  /// Refuses the first element that says what another one says; nil is not compared.
  private static func requireOnce(_ values: [String?], _ name: String) throws(ProblemDetails) {
    var known: Set<String> = []
    for (index, value) in values.enumerated() {
      guard let value, !known.insert(value).inserted else { continue }
      throw .content("slots[\(index)].\(name)", "slots must not name a \(name) twice.")
    }
  }
}

/// One of them, as an app writes it.
private struct SlotDocument: Decodable {
  private static let phaseScalarsMax = 32

  let slot: UserSlot

  init(from decoder: any Decoder) throws {
    let body = try decoder.members("slot", "phase", "enabled", "weekdays")
    let time = try body.decode(String.self, forKey: "slot")
    try body.require(UserSlot.isSlot(time), "slot", SlotsDocument.slotDemand)
    let phase = try body.decodeText(
      "phase", "must be at most \(Self.phaseScalarsMax) small letters, digits and underscores, a letter first"
    ) { PushSubject.canBeKind($0) && $0.utf8.count <= Self.phaseScalarsMax }
    let weekdays = try body.decodeIfPresent([Int].self, forKey: "weekdays")
    try body.require(
      weekdays.map(Self.areWeekdays) != false, "weekdays", "must have each day at most once, 1 for Monday to 7")
    slot = UserSlot(
      slot: time, phase: phase, isEnabled: try body.decodeIfPresent(Bool.self, forKey: "enabled") ?? true,
      weekdays: weekdays?.sorted())
  }

  private static func areWeekdays(_ days: [Int]) -> Bool {
    (1...7).contains(days.count) && Set(days).count == days.count && days.allSatisfy((1...7).contains)
  }
}

extension HTTPServerRequest {
  /// A JSON document with a strong entity tag; 304 for a client that has it (RFC 9110, section 13.1.2).
  func conditionalAnswer(_ json: [UInt8]) -> HTTPServerResponse {
    let tag = "\"\(SHA256.hash(json).hexadecimal(bytes: 16))\""
    var fields: HTTPFields = [.eTag: tag, .cacheControl: "private, no-cache"]
    if Self.isNamed(tag, by: head.fields[.ifNoneMatch]) {
      return HTTPServerResponse(status: .notModified, fields: fields)
    }
    fields[.contentType] = "application/json"
    return HTTPServerResponse(status: .ok, fields: fields, body: json)
  }

  /// Whether a list of entity tags has this one. Tags of this service have no comma. Weak ones name it too.
  private static func isNamed(_ tag: String, by list: String?) -> Bool {
    (list ?? "").split(separator: ",").contains { element in
      let element = element.drop { $0 == " " || $0 == "\t" }
      let known = (element.hasPrefix("W/") ? element.dropFirst(2) : element).prefix { $0 != " " && $0 != "\t" }
      return known == tag || known == "*"
    }
  }
}
