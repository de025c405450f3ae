internal import Campaigns
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
