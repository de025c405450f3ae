internal import DequeModule
internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors

/// The definitions of one kind among the database's campaigns, each read once for each change.
struct CampaignDefinitions<Definition> {
  /// By campaign. Those of other kinds, and unreadable ones, are absent.
  private(set) var read: [String: Definition] = [:]
  private(set) var others: Set<String> = []
  private var texts: [String: String] = [:]

  /// Takes over the database's campaigns. An unreadable definition is logged once.
  /// - Parameter reader: returns nil for a campaign of another kind, and throws what is wrong with one of this kind.
  mutating func update(
    _ stored: [StoredCampaign], logger: Logger, reader: (StoredCampaign) throws -> Definition?
  ) {
    for campaign in stored where texts[campaign.name] != campaign.definition {
      texts[campaign.name] = campaign.definition
      read[campaign.name] = nil
      others.remove(campaign.name)
      do {
        if let definition = try reader(campaign) {
          read[campaign.name] = definition
        } else {
          others.insert(campaign.name)
        }
      } catch {
        logger.error(
          "a campaign's definition cannot be used", metadata: ["campaign": "\(campaign.name)", "defect": "\(error)"])
      }
    }
    let names = Set(stored.map(\.name))
    read = read.filter { names.contains($0.key) }
    texts = texts.filter { names.contains($0.key) }
    others.formIntersection(names)
  }
}

/// The campaigns of hours whose definitions can be read.
struct CampaignCatalogue {
  private var known = CampaignDefinitions<CampaignDefinition>()
  private(set) var scheduled: [String] = []
  /// All active campaigns, including those with an unreadable definition.
  private(set) var active: Set<String> = []

  var definitions: [String: CampaignDefinition] { known.read }

  /// Takes over the database's campaigns; those of slots are ``SlotCatalogue``'s. The users of one with an unreadable
  /// definition are given up for the day.
  mutating func update(_ stored: [StoredCampaign], logger: Logger) {
    known.update(stored, logger: logger) { campaign in
      let isOfSlots = SlotCampaignDefinition.hasSlots(json: campaign.definition)
      return isOfSlots ? nil : try CampaignDefinition(json: campaign.definition)
    }
    active = Set(stored.map(\.name)).subtracting(known.others)
    scheduled = stored.filter { $0.isScheduled && definitions[$0.name] != nil }.map(\.name)
  }
}

/// The slot campaigns whose definitions can be read.
struct SlotCatalogue {
  /// The longest name: an identifier of a row has 16 more bytes, and APNs takes 64.
  static let nameBytesMax = 48

  private var known = CampaignDefinitions<SlotCampaignDefinition>()
  /// How long before it is due a row is rendered: time to fetch what it says.
  private(set) var lead = SlotFlags().lead

  var definitions: [String: SlotCampaignDefinition] { known.read }

  /// This with the database's present campaigns and flags. Flags are not asked for without a campaign of slots.
  func updated(
    from store: PushDatabase, logger: Logger, on reactor: isolated Reactor
  ) async throws(PostgresError) -> SlotCatalogue {
    var updated = self
    updated.known.update(try await store.campaigns(on: reactor), logger: logger, reader: Self.definition)
    if !updated.definitions.isEmpty { updated.lead = try await store.configFlags(on: reactor).lead }
    return updated
  }

  private static func definition(of campaign: StoredCampaign) throws -> SlotCampaignDefinition? {
    guard SlotCampaignDefinition.hasSlots(json: campaign.definition) else { return nil }
    if campaign.name.utf8.count > nameBytesMax { throw LongName() }
    return try SlotCampaignDefinition(json: campaign.definition)
  }

  private struct LongName: Error, CustomStringConvertible {
    var description: String { "its name has more than \(SlotCatalogue.nameBytesMax) bytes" }
  }
}

extension SlotCampaignDefinition {
  func allows(phase: String?) -> Bool { slots.contains { $0.phase == phase } }

  /// The slots of a user who has chosen none.
  var userSlots: [UserSlot] {
    slots.map {
      UserSlot(slot: $0.slot.description, phase: $0.phase, weekdays: $0.weekdays.count == 7 ? nil : $0.weekdays)
    }
  }
}

/// The failed parts of campaigns that a look skips: after the first failure none, then 1, 3, 7 looks and so on. An
/// audience that always fails therefore does not load the database.
///
/// It counts looks, not time. Looks have their own jitter.
struct CampaignRetries {
  /// A part that fails and is retried separately.
  enum Part: Hashable {
    /// Reading the zones of a campaign's audience.
    case audience(String)
    /// Enrolling the users of an hour: the campaign and the zone.
    case slot(String, String)
  }

  /// Ten minutes of looks. An hour can be served for two.
  static let looksLeftOutMax = 31

  /// Parts whose last try failed: the failures in a row, and the looks that still skip them.
  private var failures: [Part: (count: Int, looksLeft: Int)] = [:]

  var isEmpty: Bool { failures.isEmpty }

  /// Begins a look. A part without a retry in ten minutes, such as an hour that is over, is forgotten.
  mutating func beginLook() {
    for part in failures.keys { failures[part]?.looksLeft -= 1 }
    failures = failures.filter { $0.value.looksLeft > -Self.looksLeftOutMax }
  }

  func leavesOut(_ part: Part) -> Bool { (failures[part]?.looksLeft ?? 0) > 0 }

  mutating func failed(_ part: Part) {
    let count = (failures[part]?.count ?? 0) + 1
    failures[part] = (count, min(1 << min(count - 1, 16), Self.looksLeftOutMax + 1))
  }

  mutating func succeeded(_ part: Part) { failures[part] = nil }
}

/// Claimed turns, or other work, shared by several workers.
final class TurnBatch<Turn> {
  private var waiting: Deque<Turn>
  private let deadline: UInt64
  private var isStopped = false

  /// - Parameter deadline: monotonic nanoseconds after which no turn begins.
  init(_ turns: [Turn], until deadline: UInt64) {
    waiting = Deque(turns)
    self.deadline = deadline
  }

  /// Works until no turn is left or may begin.
  /// - Returns: the turns that did not begin.
  func run(workers: Int, on reactor: isolated Reactor, _ work: @escaping (Turn) async -> Void) async -> [Turn] {
    let done = Signal()
    var working = workers
    for _ in 0..<workers {
      reactor.start {
        while let turn = self.next() { await work(turn) }
        working -= 1
        if working == 0 { done.signal(on: reactor) }
      }
    }
    _ = await done.wait(on: reactor)
    return Array(waiting)
  }

  private func next() -> Turn? { isStopped || Reactor.now >= deadline ? nil : waiting.popFirst() }

  func stop() { isStopped = true }
}
