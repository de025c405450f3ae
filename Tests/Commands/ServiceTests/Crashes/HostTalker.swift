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
