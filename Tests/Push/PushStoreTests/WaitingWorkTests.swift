import Testing

@testable import PushStore

@Suite("What waits to be claimed")
struct WaitingWorkTests {
  private static let limits = {
    var limits = ClaimLimits(
      eventsMax: 9, deliveriesMax: 9, lanes: [.init("open", deliveriesMax: 9)], lease: .seconds(30))
    limits.lookBack = .seconds(60)
    return limits
  }()

  private static let inbox = "insert into tacet.inbox (subject_id, kind, available_at) select gen_random_uuid(), "
  private static let delivery = """
    insert into tacet.deliveries (subject_id, user_id, kind, enqueued_at, due_at, state, lane)
    select gen_random_uuid(), gen_random_uuid(), 'message', now(),
    """

  @Test(
    "it names what a claim would find, and nothing that none would",
    arguments: [
      ("select 1", false, false),
      (inbox + "'message', now()", true, false),
      (inbox + "'message', now() - interval '59 seconds'", true, false),
      (inbox + "'message', now() - interval '61 seconds'", false, true),
      (inbox + "'message', now() + interval '1 minute'", false, false),
      (inbox + "'message', now(); update tacet.inbox set attempts = 1", false, true),
      (inbox + "'service_push', now()", false, true),
      (inbox + "'read_sync', now() + interval '1 minute'", false, false),
      (inbox + "'read_sync', now(); " + inbox + "'message', now()", true, true),
      (delivery + " now(), 'held', null", false, true),
      (delivery + " now() + interval '1 minute', 'held', null", false, false),
      (delivery + " now(), 'waiting', 'open'", false, true),
      (delivery + " now(), 'waiting', 'shut'", false, false),
    ] as [(String, Bool, Bool)])
  func named(_ statements: String, _ hasMessages: Bool, _ hasOthers: Bool) async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(statements)
    let waiting = try await withStore(database) { try await $0.waitingWork(Self.limits, on: $1) }
    #expect(waiting == WaitingWork(hasMessages: hasMessages, hasChangedRows: false, hasOthers: hasOthers))
    let messages = try await withStore(database) { try await $0.claimMessages(Self.limits, on: $1) }
    #expect(messages.isEmpty == !hasMessages)
    let others = try await withStore(database) { try await $0.claim(Self.limits, on: $1) }
    #expect(others.isEmpty == !hasOthers)
  }

  @Test("a lease hides its message until it is over")
  func leased() async throws {
    let chat = try await Chat()
    try await chat.send()
    #expect(try await claim(chat.database).count == 1)
    let leased = try await withStore(chat.database) { try await $0.waitingWork(Self.limits, on: $1) }
    #expect(leased == WaitingWork(hasMessages: false, hasChangedRows: false, hasOthers: false))
    try await chat.send()
    #expect(try await claim(chat.database, lease: .microseconds(1)).count == 1)
    let over = try await withStore(chat.database) { try await $0.waitingWork(Self.limits, on: $1) }
    #expect(over == WaitingWork(hasMessages: false, hasChangedRows: false, hasOthers: true))
  }
}
