import Foundation
import Testing

@testable import TacetClient

@Suite("Presence of an app's user")
struct PresenceTests {
  private let surface = Surface(kind: "question", id: UUID())
  private let sleeps = ManualSleep()

  private func client(_ transport: MockTransport) -> PushServiceClient {
    PushServiceClient(origin: URL(string: "http://h")!, transport: transport, token: { "t" }) { [sleeps] in
      try await sleeps.sleep($0)
    }
  }

  private func line(_ method: String, _ surface: Surface) -> String {
    "\(method) /v1/surfaces/question/\(surface.id.uuidString.lowercased())/last-seen"
  }

  /// Ends the sleep that is to come before the next report.
  private func beat(_ transport: MockTransport) async {
    let count = transport.lines.count
    let waker = Task {
      while !Task.isCancelled {
        sleeps.wake()
        await Task.yield()
      }
    }
    await transport.wait(for: count + 1)
    waker.cancel()
    await waker.value
  }

  @Test("it is reported again and again while the task runs, and then that the user left")
  func lifecycle() async throws {
    let transport = MockTransport([.status(204), .nothing, .status(503)])
    let client = client(transport)
    let task = Task { try await client.stayPresent(at: surface, every: .seconds(15)) }
    await transport.wait(for: 1)
    await beat(transport)
    await beat(transport)
    await beat(transport)
    task.cancel()
    try await task.value
    let looks = transport.lines.dropLast()
    #expect(looks.count >= 4 && looks.allSatisfy { $0 == line("PUT", surface) })
    #expect(transport.lines.last == line("DELETE", surface))
    #expect(sleeps.asked.allSatisfy { $0 == .seconds(15) })
  }

  @Test("a refusal that will not change ends it", arguments: [403, 404])
  func refused(status: Int) async throws {
    let transport = MockTransport([.status(204), .status(status)])
    let client = client(transport)
    sleeps.open()
    await #expect(throws: PushServiceError.self) { try await client.stayPresent(at: surface) }
    #expect(transport.lines == [line("PUT", surface), line("PUT", surface), line("DELETE", surface)])
  }

  @Test("a token that is not valid does not end it: the next report has a new one")
  func renewed() async throws {
    let transport = MockTransport([.status(401), .status(401)])
    let client = client(transport)
    let task = Task { try await client.stayPresent(at: surface) }
    await transport.wait(for: 1)
    await beat(transport)
    await beat(transport)
    task.cancel()
    try await task.value
    #expect(transport.lines.count >= 4)
  }

  @Test("who comes back while the leaving is on its way is reported after it", .timeLimit(.minutes(1)))
  func order() async throws {
    let transport = MockTransport([.status(204), .status(503)])
    let reporter = PresenceReporter(client(transport))
    await reporter.show(surface)
    await transport.wait(for: 1)
    await reporter.show(nil)
    await transport.wait(for: 2)
    await reporter.show(surface)
    await beat(transport)
    await transport.wait(for: 4)
    #expect(
      transport.lines.prefix(4) == [
        line("PUT", surface), line("DELETE", surface), line("DELETE", surface), line("PUT", surface),
      ])
  }

  @Test("a surface that two views show is left when the last of them is gone")
  func together() async throws {
    let transport = MockTransport()
    let client = client(transport)
    let first = Task { try await client.stayPresent(at: surface) }
    let second = Task { try await client.stayPresent(at: surface) }
    await transport.wait(for: 2)
    first.cancel()
    try await first.value
    #expect(!transport.lines.contains(line("DELETE", surface)))
    second.cancel()
    try await second.value
    #expect(transport.lines.last == line("DELETE", surface))
  }

  @Test("what was refused is reported again when it is shown again", .timeLimit(.minutes(1)))
  func refusedThenShown() async throws {
    let transport = MockTransport([.status(403)])
    let reporter = PresenceReporter(client(transport))
    await reporter.show(surface)
    await transport.wait(for: 2)
    while transport.lines.count < 3 {
      await reporter.show(surface)
      await Task.yield()
    }
    #expect(transport.lines.prefix(3) == [line("PUT", surface), line("DELETE", surface), line("PUT", surface)])
  }

  @Test("a task that is cancelled before it begins reports nothing but the leaving")
  func cancelledAtOnce() async throws {
    let transport = MockTransport()
    let client = client(transport)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await client.stayPresent(at: surface)
    }
    try await task.value
    #expect(transport.lines == [line("DELETE", surface)])
  }

  @Test("one surface is shown at a time; nothing is shown when the app is away")
  func reporter() async throws {
    let other = Surface(kind: "question", id: UUID())
    let transport = MockTransport()
    let reporter = PresenceReporter(client(transport))
    await reporter.show(surface)
    await transport.wait(for: 1)
    await reporter.show(surface)
    await reporter.show(other)
    await transport.wait(for: 3)
    await reporter.show(nil)
    await transport.wait(for: 4)
    #expect(transport.lines.first == line("PUT", surface))
    #expect(Set(transport.lines) == Set([surface, other].flatMap { [line("PUT", $0), line("DELETE", $0)] }))
    #expect(transport.lines.count == 4)
  }

  @Test("who forgets the reporter has left")
  func forgotten() async throws {
    let transport = MockTransport()
    var reporter: PresenceReporter? = PresenceReporter(client(transport))
    await reporter?.show(surface)
    await transport.wait(for: 1)
    reporter = nil
    await transport.wait(for: 2)
    #expect(transport.lines == [line("PUT", surface), line("DELETE", surface)])
  }
}
