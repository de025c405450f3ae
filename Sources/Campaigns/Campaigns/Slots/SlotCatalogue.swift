internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

/// When and how fast slots are rendered and pushed.
package struct SlotPace: Equatable, Sendable {
  /// How long after its time a row may be pushed. An outage may end at noon.
  package var grace = Duration.seconds(15 * 60)
  package var slotsPerBatch = 500
  /// Rows pushed in a second at most, so that messages of that morning have their share of the database.
  package var rowsPerSecond = 2_000
  /// Rows that are due at once are pushed within this time where the pace allows that. What a process has sent and not yet recorded when
  /// it is killed is sent once more: of pushes that take 25 s and are recorded within 0.1 s that is less than one in a hundred.
  var spread = Duration.seconds(25)
  /// How long a claim of rows that are due holds. Then another process takes over the rows of a killed one.
  package var lease = Duration.seconds(30)
  /// How long a claim of slots that are rendered holds: longer than their fetches may take.
  package var renderLease = Duration.seconds(60)
  package var concurrentDrafts = 20
  /// How long texts of a batch are begun: with the last of them it stays within the lease.
  var draftLimit: Duration { renderLease / 2 }
  /// A row that is due sooner has a template.
  package var draftReserve = Duration.seconds(30)
  /// Claims after which a row is given up. A cause that kills a process five times kills the sixth too.
  package var attemptsMax = 5
  /// The longest pause between two looks.
  package var lookInterval = Duration.seconds(10)
  /// For how long after it found rows the runner looks again without asking when the next one is due.
  package var backlogInterval = Duration.seconds(1)
  /// After a failure, how long the database may sleep before the next try.
  package var retryWait = Duration.seconds(600)
  /// The pause between two looks at the campaigns.
  package var catalogueInterval = Duration.seconds(20)
  /// The pause between two looks at whole audiences. Users of the API are enrolled at once.
  package var enrolInterval = Duration.seconds(15 * 60)
  /// Users enrolled by one statement at least. Each reads the whole audience, and what that costs depends on the host.
  var enrolUsersMin = 500
  /// Within this time after a user's schedule was rendered on request, the next request gets what is stored.
  package var requestPause = Duration.seconds(30)

  package init() {}
}

extension SlotPace {
  /// More rows are not counted: they are pushed as fast as the pace allows.
  var dueRowsMax: Int { rowsPerSecond * Int(spread.components.seconds) }

  /// Rows pushed in a second while so many are due: a twentieth of the most at least.
  func rowsPerSecond(whenDue rows: Int) -> Int {
    min(max(rows / max(Int(spread.components.seconds), 1), rowsPerSecond / 20, 1), rowsPerSecond)
  }

  /// Rows pushed together. So many events of the fastest pace wait in the inbox at most before more come.
  func rowsPerBatch(at rowsPerSecond: Int) -> Int { min(max(rowsPerSecond / 32, 1), 256) }

  /// Users of the next page of an audience, after a page of so many users took a time. 5,000 at most.
  func enrolUsers(after users: Int, in time: Duration) -> Int {
    if time < .seconds(1) { return min(users * 2, 5_000) }
    return time > .seconds(4) ? max(users / 2, enrolUsersMin) : users
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
