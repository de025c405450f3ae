import Foundation
import Simulators
import TestPostgres
import TestRandomness

/// A session of the host that writes messages, and does about them what their recipients do. Has a thread of its own.
final class HostTalker {
  /// Between two statements: some 25 messages a second from three talkers.
  private static let pause: UInt32 = 90_000

  private let scene: ServiceScene
  private let book: HostBook
  private let rooms: HostRooms
  private var generator: SeededGenerator
  private var session: PsqlSession?
  private var followUps: [(dueAt: Int64, message: HostMessage)] = []

  init(_ scene: ServiceScene, _ book: HostBook, _ rooms: HostRooms, seed: UInt64) {
    self.scene = scene
    self.book = book
    self.rooms = rooms
    generator = SeededGenerator(seed: seed)
  }

  /// Writes until then, and goes on until all that was to follow has been acknowledged.
  /// - Throws: when that takes longer than a minute.
  func run(until end: Int64) throws {
    while true {
      let now = SimulationClock.wall.microseconds
      if let index = followUps.firstIndex(where: { $0.dueAt <= now }) {
        follow(index)
      } else if now < end {
        say()
      } else if followUps.isEmpty {
        return
      }
      guard now < end + 60_000_000 else { throw HostFailure.unacknowledged(followUps.count) }
      usleep(Self.pause)
    }
  }

  private func say() {
    let turn = rooms.next(using: &generator)
    for device in turn.messages.flatMap(\.room.recipients).flatMap(\.devices) { scene.registerSlowly(device) }
    for message in turn.messages { book.open(message) }
    let insertions = turn.messages.map(\.insertion).joined(separator: "\n")
    let text = attempt(
      "begin; \(turn.newRoom?.creation ?? "") \(insertions) \(turn.isTakenBack ? "rollback;" : "commit;")")
    guard let text, !turn.isTakenBack else { return }
    let now = SimulationClock.wall.microseconds
    for (message, createdAt) in zip(turn.messages, text.split(separator: "\n")) {
      book.update(message.id) { message in
        message.createdAt = Int64(createdAt)
        message.acknowledgedAt = now
      }
      guard message.followUp != nil else { continue }
      followUps.append((now + Int64.random(in: 20_000...700_000, using: &generator), message))
    }
  }

  private func follow(_ index: Int) {
    let message = followUps[index].message
    book.update(message.id) { $0.followUpBegan = $0.followUpBegan ?? SimulationClock.wall.microseconds }
    guard attempt(message.followUpStatement) != nil else { return }
    book.update(message.id) { $0.followUpDone = SimulationClock.wall.microseconds }
    followUps.remove(at: index)
  }

  /// What the statements returned; nil when the connection was lost, and nobody knows whether they were committed.
  private func attempt(_ sql: String) -> String? {
    do {
      let session = try self.session ?? PsqlSession(scene.conninfo)
      self.session = session
      return try session.run(sql)
    } catch {
      book.note(error)
      session = nil
      return nil
    }
  }
}

enum HostFailure: Error {
  /// The database did not take so many updates.
  case unacknowledged(Int)
}

/// What somebody is doing while a message comes for them, and so what may and what must become of its push.
enum Situation {
  /// Never looked: every device must get it.
  case away
  /// Has no device.
  case tokenless
  /// Has read it by the time it is committed.
  case hasRead
  /// Reads it soon after; a push claimed before that is fair.
  case reading
  /// Looks all the time, and says so.
  case looking
  /// Looked when it was written, and never again: must get it when the window has ended.
  case glimpsing
  /// The same, and says soon after that they left: must get it then.
  case leaving

  /// Whether the presence of the moment is written with the conversation.
  var wasSeen: Bool { [.looking, .glimpsing, .leaving].contains(self) }
}

struct HostRecipient {
  let user = UUID().uuidString.lowercased()
  let situation: Situation
  let devices: [String]

  init(_ situation: Situation, devices count: Int = 1) {
    self.situation = situation
    devices = (0..<(situation == .tokenless ? 0 : count)).map { _ in Conversation.newToken() }
  }
}

/// A message as the host wrote it. Times are microseconds since 1970; database and test share the machine's clock.
struct HostMessage {
  /// What the host does about the message after its commit.
  enum FollowUp { case read, leave, delete }

  let id = UUID().uuidString.lowercased()
  let room: Room
  let followUp: FollowUp?

  /// `created_at`. Known once the commit was acknowledged or the row was found at the end: then it is committed.
  var createdAt: Int64?
  /// When the commit was acknowledged; nil when the connection was lost over it.
  var acknowledgedAt: Int64?
  /// From when the follow-up may have been in effect; nil when it was never tried.
  var followUpBegan: Int64?
  /// From when it certainly was.
  var followUpDone: Int64?

  init(in room: Room, followUp: FollowUp? = nil) {
    self.room = room
    self.followUp = followUp
  }

  var isCommitted: Bool { createdAt != nil }

  /// Whether it may be gone from the host's table.
  var mayBeDeleted: Bool { followUp == .delete && followUpBegan != nil }

  var insertion: String {
    let readers = room.recipients.filter { $0.situation == .hasRead }.map { "'\($0.user)'" }.joined(separator: ",")
    return """
      insert into messages (id, conversation_id, from_id, text, read_by)
      values ('\(id)', '\(room.id)', '\(room.sender)', 'hello', array[\(readers)]::uuid[])
      returning (extract(epoch from created_at) * 1000000)::bigint;
      """
  }

  /// May be run again without another effect: a host repeats what it got no answer to.
  var followUpStatement: String {
    let reader = room.recipients.first { $0.situation == .reading }?.user ?? id
    switch followUp {
    case .read:
      return """
        update messages set read_by = read_by || '\(reader)'::uuid, updated_at = now()
        where id = '\(id)' and not '\(reader)' = any (read_by);
        """
    case .leave:
      return
        "update conversation_participants set tacet_left_at = clock_timestamp() where conversation_id = '\(room.id)';"
    case .delete: return "delete from messages where id = '\(id)';"
    case nil: return ""
    }
  }
}

/// A conversation of one sender with others.
struct Room {
  let id = UUID().uuidString.lowercased()
  let sender = UUID().uuidString.lowercased()
  let recipients: [HostRecipient]

  init(_ recipients: [HostRecipient]) {
    self.recipients = recipients
  }

  /// Writes it with everybody in it.
  var creation: String {
    let people = recipients.map { ($0.user, $0.situation.wasSeen ? "now()" : "null") } + [(sender, "null")]
    let tokens = recipients.flatMap { recipient in recipient.devices.map { "('\(recipient.user)', '\($0)')" } }
    var sql = """
      insert into conversations (id) values ('\(id)');
      insert into profiles (id, name) values \(people.map { "('\($0.0)', 'Ann')" }.joined(separator: ", "));
      insert into conversation_participants (conversation_id, user_id, last_seen)
      values \(people.map { "('\(id)', '\($0.0)', \($0.1))" }.joined(separator: ", "));
      """
    if !tokens.isEmpty {
      sql += "insert into push_tokens (user_id, device_token) values \(tokens.joined(separator: ", "));"
    }
    return sql
  }
}

/// The conversations of a run. Where a recipient's presence must be known exactly, each message has a conversation of
/// its own; the others go on for the whole run.
struct HostRooms {
  /// Somebody with one device and somebody with two, both away.
  let quiet: [Room]
  /// Somebody who looks, and somebody who is away.
  let watched: [Room]
  /// Fifty recipients.
  let group: Room

  init() {
    quiet = (0..<4).map { _ in Room([HostRecipient(.away), HostRecipient(.away, devices: 2)]) }
    watched = (0..<3).map { _ in Room([HostRecipient(.looking), HostRecipient(.away)]) }
    let people = (0..<50).map { number in
      HostRecipient(number < 4 ? .tokenless : number < 8 ? .hasRead : .away)
    }
    group = Room(people)
  }

  var lasting: [Room] { quiet + watched + [group] }

  /// One transaction of the host.
  struct Turn {
    let messages: [HostMessage]
    /// Written with the messages.
    var newRoom: Room?
    /// Rolled back instead of committed: nobody may ever hear of it.
    var isTakenBack = false
  }

  func next(using generator: inout SeededGenerator) -> Turn {
    switch Int.random(in: 0..<100, using: &generator) {
    case ..<26: turn(in: quiet.randomElement(using: &generator))
    case ..<28: turn(in: quiet.randomElement(using: &generator), messages: 20)
    case ..<44: turn(in: watched.randomElement(using: &generator))
    case ..<49: turn(in: group)
    case ..<61: alone(.glimpsing)
    case ..<72: alone(.leaving, devices: 2, .leave)
    case ..<83: alone(.reading, .read)
    case ..<89: alone(.glimpsing, .delete)
    case ..<93: alone(.away, .delete)
    case ..<97: alone(.away, isTakenBack: true)
    default: alone(.tokenless)
    }
  }

  private func turn(in room: Room?, messages count: Int = 1) -> Turn {
    Turn(messages: (0..<count).map { _ in HostMessage(in: room ?? group) })
  }

  private func alone(
    _ situation: Situation, devices: Int = 1, _ followUp: HostMessage.FollowUp? = nil, isTakenBack: Bool = false
  ) -> Turn {
    let room = Room([HostRecipient(situation, devices: devices)])
    return Turn(messages: [HostMessage(in: room, followUp: followUp)], newRoom: room, isTakenBack: isTakenBack)
  }
}
