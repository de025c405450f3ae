import Foundation
import Simulators
import Testing

@Suite("Bursts over kills", .serialized)
struct BurstCrashTests {
  private static let window = 4
  private static let rooms = 30
  private static let rounds = 12

  @Test("sound once a window, end with the newest message on the screen, and lose none while replicas are killed")
  func kills() async throws {
    let scene = try await ServiceScene(extra: ["FOLD_WINDOW_SECONDS": "\(Self.window)", "LOG_LEVEL": "notice"])
    let replicas = [Replica(scene.settings), Replica(scene.settings)]
    for replica in replicas { try await replica.start() }
    var rooms: [Conversation] = []
    for _ in 0..<Self.rooms {
      let token = Conversation.newToken()
      let room = try await Conversation(scene, [.init(devices: [token])])
      scene.registerSlowly(token)
      rooms.append(room)
    }
    var kills = 0
    for round in 0..<Self.rounds {
      // A third of the rooms rests in each round, so that bursts end.
      for (place, room) in rooms.enumerated() where (place + round / 3) % 3 > 0 { _ = try await room.say("\(round)") }
      // Pushes and records of the round are under way.
      try await Task.sleep(for: .milliseconds(Int.random(in: 20...400)))
      let replica = replicas[round % 2]
      if try await replica.kill() { kills += 1 }
      try await replica.start()
    }
    #expect(try await scene.settle(within: .seconds(150)) == [:])
    for replica in replicas { #expect(try await replica.stop() == 0) }
    let ends = try await scene.rows(
      """
      select subject_id, (history -> -1 -> 'fold' ->> 'begun_us')::bigint + \(Self.window) * 1000000
      from tacet.push_log where decision = 'sent'
      """)
    let windowEnds = Dictionary(uniqueKeysWithValues: ends.map { ($0[0], Int64($0[1]) ?? .max) })
    let books = rooms.map { BurstBook($0, in: scene.simulator.service, windowEnds) }
    for (place, book) in books.enumerated() {
      #expect(book.violations == [], "room \(place)")
      let newest = try await scene.sql(
        "select text from messages where conversation_id = '\(rooms[place].id)' order by created_at desc limit 1")
      #expect(book.shown == newest, "room \(place)")
    }
    let lost = try await scene.sql(
      """
      select count(*) from messages m where not exists (
        select from tacet.push_log l
        where l.subject_id = m.id and (l.decision = 'sent' or l.decision = 'skipped' and l.reason = 'folded'))
      """)
    #expect(lost == "0")
    let messages = try await scene.sql("select count(*) from messages")
    print(
      "bursts over kills: \(kills) kills, \(messages) messages, \(books.reduce(0) { $0 + $1.sounds }) pushes with sound,",
      "\(books.reduce(0) { $0 + $1.updates }) silent updates")
    await scene.simulator.stop()
  }
}

/// What the device of a room's only recipient was sent.
private struct BurstBook {
  private struct Payload: Decodable {
    struct APS: Decodable {
      struct Alert: Decodable { let body: String }
      let alert: Alert
      let sound: String?
    }
    let aps: APS
    let message_id: String
  }

  private(set) var violations: [String] = []
  private(set) var sounds = 0
  private(set) var updates = 0
  /// The text that came last.
  private(set) var shown: String?

  /// - Parameter windowEnds: by message, when the window ends that began with its sound; microseconds since 1970, by the ledger, because
  ///   the way to the simulator is longer on a busy machine. The ledger may lack what a killed process had sent.
  init(_ room: Conversation, in service: SimulatedService, _ windowEnds: [String: Int64]) {
    var query = PushQuery()
    query.token = room.tokens[0][0]
    query.limit = PushQuery.limitMax
    var sounded: [(message: String, at: Int64)] = []
    for record in service.withLog({ [query] in $0.records(query).records }) where record.status == 200 {
      guard let payload = try? JSONDecoder().decode(Payload.self, from: Data(record.payload.utf8)) else { continue }
      shown = payload.aps.alert.body
      if payload.aps.sound == nil {
        updates += 1
        continue
      }
      sounds += 1
      // The same push again is one that a killed process had sent.
      let earlier = sounded.last { $0.message != payload.message_id }
      if let earlier, record.arrivedMicroseconds < windowEnds[earlier.message, default: .min] {
        violations.append(
          "\(payload.message_id) sounds \(record.arrivedMicroseconds - earlier.at) µs after \(earlier.message)")
      }
      sounded.append((payload.message_id, record.arrivedMicroseconds))
    }
  }
}
