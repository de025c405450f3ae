package import Logging
package import Postgres
package import PushRules
package import PushStore
package import Reactors

/// The answer to a user's choice of slots.
package enum SlotChoice: Equatable, Sendable {
  /// It is taken: the user's whole schedule.
  case taken([ScheduledRow])
  /// There is no slot campaign of this name, or the user is not in its audience.
  case unknownCampaign
  /// The campaign has no slot of this one's phase, by its place.
  case unknownPhase(Int)
}

/// Slots on request of apps: schedules and choices. It fetches nothing: that is the runner's.
///
/// Belongs to one reactor. Each call asks for the campaigns, and reads only the definitions that have changed.
package final class SlotScheduler {
  private let store: PushDatabase
  private let renderer: OccasionRenderer
  private let pace: CampaignPace
  private let metrics: CampaignMetrics
  private let logger: Logger
  private var catalogue = CampaignCatalogue()

  package init(
    store: PushDatabase, pace: CampaignPace = CampaignPace(), metrics: CampaignMetrics = CampaignMetrics(),
    logger: Logger
  ) {
    self.store = store
    self.pace = pace
    self.metrics = metrics
    self.logger = logger
    renderer = OccasionRenderer(store: store, contents: nil, logger: logger)
  }

  /// What a device of a user is to show by itself, the soonest first. It is rendered anew, unless that was done within the
  /// pause of ``CampaignPace/requestPause``.
  /// - Parameters:
  ///   - days: from today on.
  ///   - deviceToken: in lower case; nil when unknown.
  package func schedule(
    of userID: HostID, days: Int, rowsMax: Int, deviceToken: String?, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [ScheduledRow] {
    if try await !store.isScheduleRendered(of: userID, within: pace.requestPause, on: reactor) {
      try await update(on: reactor)
      try await enrol(userID, on: reactor)
      try await renderWindow(of: userID, on: reactor)
      try await store.noteScheduleRendered(of: userID, on: reactor)
    }
    return try await store.schedule(
      of: userID, days: days, rowsMax: rowsMax, deviceToken: deviceToken, on: reactor)
  }

  /// A user's slots; nil when there is no slot campaign of this name, or the user is not in its audience.
  package func slots(
    of campaign: String, for userID: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> UserSlots? {
    try await update(on: reactor)
    guard let definition = catalogue.ofSlots[campaign] else { return nil }
    try await store.followAudience(
      of: campaign, defaults: definition.slots, for: userID, lead: catalogue.lead, on: reactor)
    return try await store.slots(of: campaign, for: userID, on: reactor)
  }

  /// Replaces a user's slots and renders what they say. Occasions of slots that are off or gone are cancelled.
  package func choose(
    _ isOn: Bool, _ slots: [UserSlot], of campaign: String, for userID: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> SlotChoice {
    guard let known = try await self.slots(of: campaign, for: userID, on: reactor),
      let definition = catalogue.ofSlots[campaign]
    else { return .unknownCampaign }
    if let place = slots.firstIndex(where: { slot in !definition.slots.contains { $0.phase == slot.phase } }) {
      return .unknownPhase(place)
    }
    try await store.choose(
      UserSlots(isOn: isOn, slots: slots, timeZone: known.timeZone), of: campaign, for: userID, lead: catalogue.lead,
      on: reactor)
    try await renderWindow(of: userID, on: reactor)
    return .taken(try await store.schedule(of: userID, days: 7, rowsMax: 64, deviceToken: nil, on: reactor))
  }

  /// Renders what is stored and not pushed of a user of whom something has changed: a device, the zone, an action. Devices are
  /// told of changes.
  package func userChanged(_ userID: HostID, on reactor: isolated Reactor) async throws(PostgresError) {
    try await update(on: reactor)
    guard !catalogue.ofSlots.isEmpty else { return }
    try await enrol(userID, on: reactor)
    try await renderWindow(of: userID, hasChanged: true, on: reactor)
  }

  /// Counts what devices have reported. What concerns no campaign that there is counts for `none`: clients make no series.
  package func count(_ events: [SlotEvent], on reactor: isolated Reactor) async throws(PostgresError) {
    guard !events.isEmpty else { return }
    try await update(on: reactor)
    for event in events {
      let campaign = event.row.flatMap { catalogue.ofSlots[$0.campaign] == nil ? nil : $0.campaign }
      metrics.countCode(event.code.rawValue, of: campaign ?? "none")
    }
  }

  /// The categories of all slot campaigns, each once, by their id.
  package func categories(on reactor: isolated Reactor) async throws(PostgresError) -> [SlotCategory] {
    var categories: [String: SlotCategory] = [:]
    for category in [.daily] + SlotCategory.others { categories[category.id] = category }
    try await update(on: reactor)
    for (_, definition) in catalogue.ofSlots.sorted(by: { $0.key < $1.key }) {
      categories[definition.category.id] = definition.category
    }
    return categories.values.sorted { $0.id < $1.id }
  }

  private func update(on reactor: isolated Reactor) async throws(PostgresError) {
    catalogue = try await catalogue.updated(from: store, logger: logger, on: reactor)
  }

  private func enrol(_ userID: HostID, on reactor: isolated Reactor) async throws(PostgresError) {
    for (name, definition) in catalogue.ofSlots {
      try await store.followAudience(
        of: name, defaults: definition.slots, for: userID, lead: catalogue.lead, on: reactor)
    }
  }

  /// - Parameter hasChanged: whether only what is stored is rendered, and devices are told of changes.
  private func renderWindow(
    of userID: HostID, hasChanged: Bool = false, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    let window = try await store.slotWindow(of: userID, isStored: hasChanged, lead: catalogue.lead, on: reactor)
    for (campaign, occasions) in Dictionary(grouping: window, by: \.campaign) {
      guard let definition = catalogue.ofSlots[campaign] else { continue }
      let outcome = try await renderer.render(
        occasions, of: campaign, by: definition, isAhead: false, lead: catalogue.lead, on: reactor)
      try await store.prepare(outcome.decided, of: campaign, advancing: nil, tellsDevices: hasChanged, on: reactor)
    }
  }
}
