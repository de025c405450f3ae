import Reactors
import Synchronization
import Testing

@testable import tacet_bench

@Suite("The metronome")
struct MetronomeTests {
  @Test("beats when a message is due and never before, and none is left out")
  func beats() async throws {
    let schedule = ArrivalSchedule(start: Reactor.now + 1_000_000, perSecond: 2000, warmUpSeconds: 0, seconds: 0.02)
    let beats = try await beats(of: schedule)
    #expect(beats.count <= schedule.count)
    for (number, beat) in beats.enumerated() { #expect(beat >= schedule.due(number)) }
    #expect(beats.last.map(schedule.dueCount) == schedule.count)
  }

  @Test("catches up with one beat when all is overdue")
  func late() async throws {
    let schedule = ArrivalSchedule(start: Reactor.now - 1_000_000_000, perSecond: 100, warmUpSeconds: 0, seconds: 0.5)
    #expect(try await beats(of: schedule).count == 1)
  }

  /// The moments of all beats, in monotonic nanoseconds, until everything is due.
  private func beats(of schedule: ArrivalSchedule) async throws -> [UInt64] {
    let (stream, continuation) = AsyncStream.makeStream(of: UInt64.self)
    _ = try Metronome.start(schedule) { continuation.yield(Reactor.now) }
    var beats: [UInt64] = []
    for await beat in stream {
      beats.append(beat)
      if schedule.dueCount(at: beat) == schedule.count { break }
    }
    return beats
  }
}
