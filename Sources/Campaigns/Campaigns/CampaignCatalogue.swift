internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors

/// The database's active campaigns, each definition read once for each change.
struct CampaignCatalogue {
  /// The longest name of a campaign with slots: an identifier of an occasion has 16 more bytes, and APNs takes 64.
  static let nameBytesMax = 48

  /// By campaign. Unreadable ones are absent.
  private(set) var definitions: [String: CampaignDefinition] = [:]
  /// Those with slots.
  private(set) var ofSlots: [String: CampaignDefinition] = [:]
  /// Those that come at hours.
  private(set) var scheduled: [String] = []
  /// All, including those with an unreadable definition.
  private(set) var active: Set<String> = []
  /// How long before it is due a slot is rendered: time to fetch what it says.
  private(set) var lead = SlotFlags().lead
  private var texts: [String: String] = [:]

  /// This with the database's present campaigns and flags. An unreadable definition is logged once. Flags are not asked for
  /// without a campaign of slots.
  func updated(
    from store: PushDatabase, logger: Logger, on reactor: isolated Reactor
  ) async throws(PostgresError) -> CampaignCatalogue {
    var updated = self
    updated.update(try await store.campaigns(on: reactor), logger: logger)
    if !updated.ofSlots.isEmpty { updated.lead = try await store.configFlags(on: reactor).lead }
    return updated
  }

  private mutating func update(_ stored: [StoredCampaign], logger: Logger) {
    active = Set(stored.map(\.name))
    definitions = definitions.filter { active.contains($0.key) }
    texts = texts.filter { active.contains($0.key) }
    for campaign in stored where texts[campaign.name] != campaign.definition {
      texts[campaign.name] = campaign.definition
      definitions[campaign.name] = nil
      do {
        let definition = try CampaignDefinition(json: campaign.definition)
        if definition.hasSlots, campaign.name.utf8.count > Self.nameBytesMax {
          throw DefinitionDefect(
            code: .outOfRange, field: "slots", expected: "a name of \(Self.nameBytesMax) bytes at most")
        }
        definitions[campaign.name] = definition
      } catch {
        logger.error(
          "a campaign's definition cannot be used", metadata: ["campaign": "\(campaign.name)", "defect": "\(error)"])
      }
    }
    ofSlots = definitions.filter(\.value.hasSlots)
    scheduled = stored.filter { $0.isScheduled && definitions[$0.name]?.hasSlots == false }.map(\.name)
  }
}

/// Works on elements, so many at a time, until none is left or none may begin.
/// - Returns: what did not begin.
func share<Element>(
  _ elements: [Element], among workers: Int, while mayBegin: @escaping () -> Bool = { true },
  on reactor: isolated Reactor, _ work: @escaping (Element) async -> Void
) async -> [Element] {
  guard !elements.isEmpty else { return [] }
  let done = Signal()
  var waiting = elements[...]
  var working = workers
  for _ in 0..<workers {
    reactor.start {
      while mayBegin(), let next = waiting.popFirst() { await work(next) }
      working -= 1
      if working == 0 { done.signal(on: reactor) }
    }
  }
  _ = await done.wait(on: reactor)
  return Array(waiting)
}
