import Foundation
import Simulators
import TestIDs
import TestLogs
import TestProcesses
import TestRandomness
import TestReceivers
import Testing

/// Pushes of which a part is read or opened at random times, while the services that tell the host are killed.
@Suite("push.unread over kills", .uuidsOnly, .timeLimit(.minutes(10)))
struct UnreadCrashTests {
  private static let secret = "a-secret-of-the-events-of-this-test"
  private static let people = 20
  private static let rounds = 6
  private static let kills = 3
  /// After how long a push is unread.
  private static let after = Duration.seconds(6)

  /// What a person does about a push.
  private enum Deed {
    case nothing, reads, opens
  }

  @Test("the host learns of exactly the unread ones, of each user in order, and of no other")
  func kills() async throws {
    let receiver = try await EventReceiver(key: Array(Self.secret.utf8), logger: RunLogs.logger)
    let scene = try await ServiceScene(extra: ["EVENTS_URL": receiver.url, "EVENTS_SECRET": Self.secret])
    try await scene.sql(
      """
      insert into tacet.escalations (kind, after) values ('message', '\(Self.after.components.seconds) s');
      select tacet.announce('{push.unread,push.sent,push.skipped}')
      """)
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await play(scene, receiver))
    } catch {
      outcome = .failure(error)
    }
    await scene.simulator.stop()
    await receiver.stop()
    try outcome.get()
  }

  private func play(_ scene: ServiceScene, _ receiver: EventReceiver) async throws {
    let seed = UInt64.random(in: 0..<1_000_000)
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let chat = try await Conversation(scene, (0..<Self.people).map { _ in .away() })
    var services = [try await scene.startService(), try await scene.startService()]
    var certain: [String: String] = [:]
    var messages: [String] = []
    var killed = 0
    for round in 0..<Self.rounds {
      let message = try await chat.say()
      // Once a service dies with pushes under way, and another one sends them after its lease.
      let diesEarly = round == 3
      if diesEarly { try await replace(&services, scene, &random) }
      try await decide(message, scene)
      messages.append(message)
      // The newest, or one that may be due by now.
      let other = messages.suffix(5).randomElement(using: &random) ?? message
      for chosen in Set([message, other]).sorted() {
        certain.merge(try await act(on: chosen, chat, scene, &random)) { $1 }
      }
      receiver.answer([200, 200, 503].randomElement(using: &random) ?? 200)
      if round % 3 == 1 { try await replace(&services, scene, &random) }
      killed += (diesEarly ? 1 : 0) + (round % 3 == 1 ? 1 : 0)
    }
    receiver.answer(200)
    try await drain(scene)
    for service in services { try await service.stop() }
    #expect(killed == Self.kills)
    try await judge(scene, receiver, certain)
  }

  /// Kills a service and starts another.
  private func replace(
    _ services: inout [RunningService], _ scene: ServiceScene, _ random: inout SeededGenerator
  ) async throws {
    let victim = Int.random(in: 0..<services.count, using: &random)
    try await services[victim].process.signal(SIGKILL)
    _ = try await services[victim].process.exitCode()
    services[victim] = try await scene.startService()
  }

  /// Waits until every push of a message is sent, also by a second service.
  private func decide(_ message: String, _ scene: ServiceScene) async throws {
    let sent = "select count(*) from tacet.push_log where subject_id = '\(message)' and decision = 'sent'"
    try await scene.wait(for: "\(Self.people)", to: sent, within: .seconds(120))
  }

  /// Lets about half of the people do something now. The pushes of which it is certain that they were looked at before they were due.
  private func act(
    on message: String, _ chat: Conversation, _ scene: ServiceScene, _ random: inout SeededGenerator
  ) async throws -> [String: String] {
    var sql = ""
    for person in chat.people {
      switch [Deed.nothing, .nothing, .reads, .opens].randomElement(using: &random) {
      case .reads:
        // And leaves: somebody who has just read may still be looking, and the next push would wait a minute.
        sql += """
          update messages set read_by = read_by || '\(person)'::uuid where id = '\(message)';
          update conversation_participants set tacet_left_at = clock_timestamp() where user_id = '\(person)';
          """
      case .opens:
        sql += """
          update tacet.push_log set opened = true, opened_at = now() where subject_id = '\(message)' and user_id = '\(person)';
          """
      default: break
      }
    }
    if sql.isEmpty { return [:] }
    // What is still to be looked at was touched in time; the service may be looking at the rest right now.
    let rows = try await scene.sql(
      """
      \(sql)
      select l.id, case when l.opened then 'opened' else 'read' end
      from tacet.push_log l join messages m on m.id = l.subject_id
      join tacet.unread_checks c on c.log_id = l.id and c.due_at > clock_timestamp() + interval '1 s'
      where l.subject_id = '\(message)' and (l.opened or l.user_id = any (m.read_by))
      """)
    return Dictionary(
      rows.split(separator: "\n").compactMap { line in
        let columns = line.split(separator: "|")
        return columns.count == 2 ? (String(columns[0]), String(columns[1])) : nil
      }, uniquingKeysWith: { $1 })
  }

  /// Waits until everything is looked at and taken; waits after failures are cut short.
  private func drain(_ scene: ServiceScene) async throws {
    let deadline = ContinuousClock.now + .seconds(120)
    let left = """
      select (select count(*) from tacet.unread_checks) + (select count(*) from tacet.host_events where state = 'waiting')
      """
    while try await scene.sql(left) != "0" {
      try #require(ContinuousClock.now < deadline)
      try await scene.sql(
        "update tacet.host_events set due_at = now() where state = 'waiting' and not is_claimed and due_at > now() + interval '1 s'"
      )
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  private func judge(
    _ scene: ServiceScene, _ receiver: EventReceiver, _ certain: [String: String]
  ) async throws {
    let taken = receiver.taken
    let unread = taken.filter { $0.type == "push.unread" }
    let ids = Dictionary(grouping: taken, by: \.id)
    print(
      "\(taken.count) taken, \(ids.count) events, \(Set(unread.map(\.push)).count) unread, \(certain.count) looked at in time"
    )
    #expect(receiver.strangers == 0 && receiver.most.ofAUser >= 1)
    // One event for each push, whatever comes twice has one id.
    for (push, arrivals) in Dictionary(grouping: unread, by: \.push) {
      #expect(Set(arrivals.map(\.id)).count == 1, "\(push)")
      #expect(certain[push] == nil, "\(push) was \(certain[push] ?? "") in time")
    }
    let expected = Set(
      try await scene.sql(
        "select l.id from tacet.push_log l join messages m on m.id = l.subject_id "
          + "where l.decision = 'sent' and not l.opened and not l.user_id = any (m.read_by)"
      ).split(separator: "\n").map(String.init))
    let told = Set(unread.map(\.push))
    #expect(expected.subtracting(told).isEmpty, "unread, and the host was not told")
    #expect(certain.count > 20 && expected.count > 20)
    try await judgeOrder(scene, taken)
    // What was looked at in time has made no event; one that was looked at just before it was sent is cancelled.
    let states = Set(
      try await scene.sql("select distinct state from tacet.host_events").split(separator: "\n").map(String.init))
    #expect(states.contains("taken") && states.isSubset(of: ["cancelled", "taken"]), "\(states)")
    let kept = Set(
      try await scene.sql("select log_id from tacet.host_events where type = 'push.unread'").split(separator: "\n")
        .map(String.init))
    #expect(kept.isDisjoint(with: certain.keys), "an event of a push that was looked at in time")
  }

  /// The first arrivals of a user's outcomes are in the order of the ledger, and no push is unread before it is sent.
  private func judgeOrder(_ scene: ServiceScene, _ taken: [EventReceiver.Arrival]) async throws {
    let order = try await scene.sql("select id from tacet.push_log order by enqueued_at").split(separator: "\n")
    let places = Dictionary(uniqueKeysWithValues: zip(order.map(String.init), 0...))
    for (user, arrivals) in Dictionary(grouping: taken, by: \.user) {
      var known: Set<String> = []
      let first = arrivals.filter { known.insert($0.id).inserted }
      let sent = first.filter { $0.type == "push.sent" }.compactMap { places[$0.push] }
      #expect(sent == sent.sorted() && sent.count == Self.rounds, "\(user)")
      for (index, arrival) in first.enumerated() where arrival.type == "push.unread" {
        #expect(first[..<index].contains { $0.type == "push.sent" && $0.push == arrival.push }, "\(user)")
      }
    }
  }
}
