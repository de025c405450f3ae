internal import DequeModule
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

  mutating func update(_ stored: [StoredCampaign], logger: Logger) {
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

/// The hours of campaigns that failed and that a look skips: after the first failure none, then 1, 3, 7 looks and so on. An
/// audience that always fails therefore does not load the database.
///
/// It counts looks, not time. Looks have their own jitter.
struct CampaignRetries {
  /// Ten minutes of looks. An hour can be served for two.
  static let looksLeftOutMax = 31

  /// Hours whose last try failed: the failures in a row, and the looks that still skip them.
  private var failures: [CampaignHour: (count: Int, looksLeft: Int)] = [:]

  var isEmpty: Bool { failures.isEmpty }

  /// Begins a look. An hour without a retry in ten minutes, because it is over, is forgotten.
  mutating func beginLook() {
    for hour in failures.keys { failures[hour]?.looksLeft -= 1 }
    failures = failures.filter { $0.value.looksLeft > -Self.looksLeftOutMax }
  }

  func leavesOut(_ hour: CampaignHour) -> Bool { (failures[hour]?.looksLeft ?? 0) > 0 }

  mutating func failed(_ hour: CampaignHour) {
    let count = (failures[hour]?.count ?? 0) + 1
    failures[hour] = (count, min(1 << min(count - 1, 16), Self.looksLeftOutMax + 1))
  }

  mutating func succeeded(_ hour: CampaignHour) { failures[hour] = nil }
}

/// Claimed occasions, or other work, shared by several workers.
final class WorkBatch<Work> {
  private var waiting: Deque<Work>
  private let deadline: UInt64
  private var isStopped = false

  /// - Parameter deadline: monotonic nanoseconds after which no work begins.
  init(_ work: [Work], until deadline: UInt64) {
    waiting = Deque(work)
    self.deadline = deadline
  }

  /// Works until nothing is left or may begin.
  /// - Returns: what did not begin.
  func run(workers: Int, on reactor: isolated Reactor, _ work: @escaping (Work) async -> Void) async -> [Work] {
    let done = Signal()
    var working = workers
    for _ in 0..<workers {
      reactor.start {
        while let next = self.next() { await work(next) }
        working -= 1
        if working == 0 { done.signal(on: reactor) }
      }
    }
    _ = await done.wait(on: reactor)
    return Array(waiting)
  }

  private func next() -> Work? { isStopped || Reactor.now >= deadline ? nil : waiting.popFirst() }

  func stop() { isStopped = true }
}
