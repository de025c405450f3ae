import Channels
import PushRules
import Reactors

/// A push channel that answers as the test says, and remembers what it was given.
final class ScriptedChannel: PushChannel {
  /// One push, as the channel was asked to send it.
  struct Sent {
    let request: PushRequest
    let route: PushRoute
    let deadline: UInt64

    var environment: APNSEnvironment { route.environment }
    var identifier: String { request.head.identifier.text }
    var token: String { request.head.deviceToken.hexadecimal }
  }

  /// The answer to a push; the number counts sends from 1.
  var answer: (Sent, Int) -> PushAttempt = { _, _ in .accepted }

  /// Whether pushes wait for ``release(_:on:)`` before they are answered.
  var holds = false

  /// Whether one of them does.
  var delays: (Sent) -> Bool = { _ in false }

  /// Pushes that wait.
  var heldCount: Int { held.count }

  private(set) var sent: [Sent] = []
  private(set) var mostInFlight = 0
  private var inFlight = 0
  private var held: [Signal] = []
  private let changed = Signal()

  func send(
    _ request: PushRequest, over route: PushRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> PushAttempt {
    let push = Sent(request: request, route: route, deadline: deadline)
    sent.append(push)
    let number = sent.count
    inFlight += 1
    mostInFlight = max(mostInFlight, inFlight)
    changed.signal(on: reactor)
    if holds || delays(push) { await hold(on: reactor) }
    inFlight -= 1
    return answer(push, number)
  }

  /// Lets the oldest waiting pushes go; all of them and every later one when no number is given.
  func release(_ count: Int? = nil, on reactor: isolated Reactor) {
    if count == nil { holds = false }
    let released = held.prefix(count ?? held.count)
    held.removeFirst(released.count)
    for signal in released { signal.signal(on: reactor) }
  }

  /// Waits until so many pushes have been asked for since the start.
  func received(_ count: Int, on reactor: isolated Reactor) async throws {
    while sent.count < count {
      guard await changed.wait(for: .seconds(10), on: reactor) else { throw TestFailure("\(sent.count) pushes") }
    }
  }

  private func hold(on reactor: isolated Reactor) async {
    let signal = Signal()
    held.append(signal)
    _ = await signal.wait(on: reactor)
  }
}

/// Something a test waited for did not come.
struct TestFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
