internal import CampaignRules
internal import DequeModule
internal import Logging
internal import PushStore
internal import Reactors

/// The campaigns that can be run: those whose definitions can be read.
struct CampaignCatalogue {
  private(set) var definitions: [String: CampaignDefinition] = [:]
  private(set) var scheduled: [String] = []
  /// All that are active, whether or not their definitions can be read.
  private(set) var active: Set<String> = []
  private var texts: [String: String] = [:]

  /// Takes over what the database has. A definition is read again when it has changed; one that cannot be read is told
  /// once, and its users are given up for the day.
  mutating func update(_ stored: [StoredCampaign], logger: Logger) {
    for campaign in stored where texts[campaign.name] != campaign.definition {
      texts[campaign.name] = campaign.definition
      do throws(CampaignDefinitionDefect) {
        definitions[campaign.name] = try CampaignDefinition(json: campaign.definition)
      } catch {
        definitions[campaign.name] = nil
        logger.error(
          "a campaign's definition cannot be used", metadata: ["campaign": "\(campaign.name)", "defect": "\(error)"])
      }
    }
    active = Set(stored.map(\.name))
    definitions = definitions.filter { active.contains($0.key) }
    texts = texts.filter { active.contains($0.key) }
    scheduled = stored.filter { $0.isScheduled && definitions[$0.name] != nil }.map(\.name)
  }
}

/// Which parts of campaigns are left out of a look, because they have failed: each at first for no look, then for 1, 3, 7 and
/// so on, so that an audience that fails for everybody does not keep the database busy.
///
/// A value that counts looks, not time; looks have their own jitter.
struct CampaignRetries {
  /// What fails and is tried again apart from everything else.
  enum Part: Hashable {
    /// Reading where a campaign's audience lives.
    case audience(String)
    /// Noting the users of an hour; the campaign and the zone.
    case slot(String, String)

    static func slot(of slot: CampaignSlot) -> Part { .slot(slot.campaign, slot.timeZone) }
  }

  /// Ten minutes of looks: an hour is served for two.
  static let looksLeftOutMax = 31

  /// Parts that failed the last time, how often in a row, and how many looks are still to leave them out.
  private var failures: [Part: (count: Int, looksLeft: Int)] = [:]

  /// Begins a look. What was not tried again in ten minutes, such as an hour that is over, is forgotten.
  mutating func beginLook() {
    for part in failures.keys { failures[part]?.looksLeft -= 1 }
    failures = failures.filter { $0.value.looksLeft > -Self.looksLeftOutMax }
  }

  /// Whether this look is to leave it out.
  func leavesOut(_ part: Part) -> Bool { (failures[part]?.looksLeft ?? 0) > 0 }

  mutating func failed(_ part: Part) {
    let count = (failures[part]?.count ?? 0) + 1
    failures[part] = (count, min(1 << min(count - 1, 16), Self.looksLeftOutMax + 1))
  }

  mutating func succeeded(_ part: Part) { failures[part] = nil }
}

/// Claimed users who wait for a look, shared by those who look.
final class TurnBatch {
  private var waiting: Deque<CampaignTurn>
  private let deadline: UInt64
  private var lookers: Int
  private let done = Signal()
  private var isStopped = false

  /// - Parameter deadline: monotonic nanoseconds after which nobody is begun.
  init(_ turns: [CampaignTurn], lookers: Int, until deadline: UInt64) {
    waiting = Deque(turns)
    self.lookers = lookers
    self.deadline = deadline
  }

  /// The next user; nil when there is none, or no time.
  func next() -> CampaignTurn? { isStopped || Reactor.now >= deadline ? nil : waiting.popFirst() }

  /// Begins nobody more.
  func stop() { isStopped = true }

  /// One of the lookers has ended.
  func lookerEnded(on reactor: isolated Reactor) {
    lookers -= 1
    if lookers == 0 { done.signal(on: reactor) }
  }

  /// Waits for all lookers.
  /// - Returns: those who were not begun.
  func finished(on reactor: isolated Reactor) async -> [CampaignTurn] {
    _ = await done.wait(on: reactor)
    return Array(waiting)
  }
}
