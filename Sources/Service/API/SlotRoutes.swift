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

/// `GET` and `PUT /v1/slots/{campaign}`, and `POST /v1/slots/{campaign}/{slot}/deliver`: when a user gets what of a campaign.
enum SlotRoutes {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    group.addForClients(.get, "/v1/slots/{campaign}", load: .look) { user, request, reactor in
      let campaign = try request.campaign
      let slots = try services.value(on: reactor).slotScheduler
      guard let found = try await slots.slots(of: campaign, for: user, on: reactor) else { throw unknown(campaign) }
      return HTTPServerResponse(json: SlotsDocument(found).json)
    }
    group.addForClients(.put, "/v1/slots/{campaign}", hasContent: true, load: .documentWrite) {
      user, request, reactor in
      let campaign = try request.campaign
      let document = try RequestContent.decode(SlotsDocument.self, from: request.body)
      let slots = try services.value(on: reactor).slotScheduler
      switch try await slots.choose(
        document.enabled, document.slots.map(\.slot), of: campaign, for: user, on: reactor)
      {
      case .taken(let rows): return HTTPServerResponse(json: ScheduleAnswer.json(rows))
      case .unknownCampaign: throw unknown(campaign)
      case .unknownPhase(let place):
        throw ProblemDetails.content(
          "slots[\(place)].phase", "The campaign \(campaign) has no slot of this phase.")
      }
    }
    group.addForUsers(.post, "/v1/slots/{campaign}/{slot}/deliver", load: .write) {
      services.value(on: $0).idTypes
    } handler: { user, request, reactor in
      try await deliver(request, to: user, services.value(on: reactor), on: reactor)
    }
  }

  private static func deliver(
    _ request: HTTPServerRequest, to user: HostID, _ services: PushServices, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    let (campaign, slot) = (try request.campaign, request.parameter("slot"))
    guard UserSlot.isSlot(slot) else { throw ProblemDetails.content("slot", "slot \(SlotDocument.slotDemand).") }
    let slots = try services.slotScheduler
    switch try await slots.deliver(slot: slot, of: campaign, for: user, on: reactor) {
    case .committed(let id):
      services.pipeline.wake(.webhook, on: reactor)
      return HTTPServerResponse(json: SlotDelivery(queued: true, pushID: id.lowercased, reason: nil).json)
    case .refused("unknown_slot"):
      guard try await slots.slots(of: campaign, for: user, on: reactor) != nil else { throw unknown(campaign) }
      throw ProblemDetails.content("slot", "The user has no slot \(slot) in the campaign \(campaign).")
    case .refused(let reason):
      return HTTPServerResponse(json: SlotDelivery(queued: false, pushID: nil, reason: reason).json)
    }
  }

  private static func unknown(_ campaign: String) -> ProblemDetails {
    .content("campaign", "There is no slot campaign \(campaign) for this user.")
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

/// Whether there is a push.
private struct SlotDelivery: JSONAnswer {
  let queued: Bool
  let pushID: String?
  /// Why there is none.
  let reason: String?
}

/// A user's slots in a campaign as JSON.
struct SlotsDocument: JSONAnswer, Decodable {
  static let slotsMax = 24

  let enabled: Bool
  let slots: [SlotDocument]

  init(_ slots: UserSlots) {
    enabled = slots.isOn
    self.slots = slots.slots.map(SlotDocument.init)
  }

  private enum Key: String, CodingKey, CaseIterable {
    case enabled, slots
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    enabled = try body.decode(Bool.self, forKey: .enabled)
    slots = try body.decode([SlotDocument].self, forKey: .slots)
    try body.require((1...Self.slotsMax).contains(slots.count), .slots, "must have 1 to \(Self.slotsMax) elements")
    try Self.requireOnce(slots.map(\.slot.slot), "slot")
    try Self.requireOnce(slots.map(\.slot.phase), "phase")
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

struct SlotDocument: Codable {
  static let slotDemand = "must be a time from 0000 to 2359"
  private static let phaseScalarsMax = 32

  let slot: UserSlot

  init(_ slot: UserSlot) {
    self.slot = slot
  }

  private enum Key: String, CodingKey, CaseIterable {
    case slot, phase, enabled, weekdays
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    let time = try body.decode(String.self, forKey: .slot)
    try body.require(UserSlot.isSlot(time), .slot, Self.slotDemand)
    let phase = try body.decodeText(
      .phase, "must be at most \(Self.phaseScalarsMax) small letters, digits and underscores, a letter first"
    ) { PushSubject.canBeKind($0) && $0.utf8.count <= Self.phaseScalarsMax }
    let weekdays = try body.decodeIfPresent([Int].self, forKey: .weekdays)
    try body.require(
      weekdays.map(Self.areWeekdays) != false, .weekdays, "must have each day at most once, 1 for Monday to 7")
    slot = UserSlot(
      slot: time, phase: phase, isEnabled: try body.decodeIfPresent(Bool.self, forKey: .enabled) ?? true,
      weekdays: weekdays?.sorted())
  }

  private static func areWeekdays(_ days: [Int]) -> Bool {
    (1...7).contains(days.count) && Set(days).count == days.count && days.allSatisfy((1...7).contains)
  }

  func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: Key.self)
    try body.encode(slot.slot, forKey: .slot)
    try body.encodeIfPresent(slot.phase, forKey: .phase)
    try body.encode(slot.isEnabled, forKey: .enabled)
    try body.encodeIfPresent(slot.weekdays, forKey: .weekdays)
  }
}

/// `GET /v1/schedule`: what a device is to show by itself.
enum ScheduleRoute {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    group.addForClients(.get, "/v1/schedule", load: .documentRead) { user, request, reactor in
      let query = try ScheduleQuery(request.head)
      let rows = try await services.value(on: reactor).slotScheduler.schedule(
        of: user, days: query.days, rowsMax: query.rowsMax, deviceToken: query.deviceToken, on: reactor)
      return request.conditionalAnswer(ScheduleAnswer.json(rows))
    }
  }
}

struct ScheduleQuery: Equatable {
  static let (daysMax, rowsMax) = (7, 64)

  /// From today on.
  let days: Int
  let rowsMax: Int
  /// In lower case; nil when unknown.
  let deviceToken: String?

  init(_ head: RequestHead) throws(ProblemDetails) {
    let query = try StrictQuery(head, known: ["days", "max", "device_token"])
    days = try Self.number(query, "days", max: Self.daysMax)
    rowsMax = try Self.number(query, "max", max: Self.rowsMax)
    guard let text = query["device_token"] else {
      deviceToken = nil
      return
    }
    guard let token = try? DeviceToken(text) else {
      throw .content("device_token", "device_token must be \(DeviceToken.demand).")
    }
    deviceToken = token.hexadecimal
  }

  /// 1 to a bound, which is also the default, in decimal digits.
  private static func number(_ query: StrictQuery, _ name: String, max: Int) throws(ProblemDetails) -> Int {
    guard let text = query[name] else { return max }
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(text),
      (1...max).contains(number)
    else { throw .content(name, "\(name) must be a number from 1 to \(max).") }
    return number
  }
}

enum ScheduleAnswer {
  /// The tolerance of devices whose alarms are inexact.
  private static let wideTolerance = 600

  static func json(_ rows: [ScheduledRow]) -> [UInt8] {
    var object = PayloadObject()
    object["settings_hint"] = .boolean(rows.contains { $0.toleranceSeconds >= wideTolerance })
    object["rows"] = .array(rows.map { .object(document($0)) })
    return object.encoded()
  }

  private static func document(_ row: ScheduledRow) -> PayloadObject {
    [
      "identifier": .string(row.identifier), "campaign": .string(row.campaign), "slot": .string(row.slot),
      "fire_date": .string(row.fireDate), "fire_at": .string(TimeText.instant(row.fireAt)),
      "local_time": .string(row.localTime), "title": .string(row.text.title), "body": .string(row.text.body),
      "category": .string(row.text.category), "thread_id": .string(row.threadID), "data": .object(data(of: row)),
      "tolerance_seconds": .integer(Int64(row.toleranceSeconds)),
    ]
  }

  /// The custom members of the same row's push.
  private static func data(of row: ScheduledRow) -> PayloadObject {
    let stored = try? JSONDecoder().decode(PayloadObject.self, from: Data(row.text.data.utf8))
    var data = PayloadObject()
    data["type"] = .string(row.campaign)
    for (key, value) in stored?.members ?? [] { data[key] = value }
    return data
  }
}

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
