import Channels
import PushRules
import Reactors

/// A deliverer of another channel than APNs that answers as the test says. Each target's app is its route.
final class ScriptedDeliverer: PushDeliverer {
  struct Request: DeliveryRequest {
    let push: OutgoingPush
    var identifier: String? { nil }
  }

  static let routeNames = ["web_push/one", "web_push/two"]

  let channel = DeliveryChannel(rawValue: "web_push")
  var routes: [DeliveryRoute] { Self.routeNames.map { DeliveryRoute(channel, name: $0) } }
  var pushesInFlightMax: Int? = 4

  /// The answer to a push over a route.
  var answer: (OutgoingPush, DeliveryRoute) -> DeliveryAttempt = { _, _ in DeliveryAttempt(.accepted, status: 201) }

  /// Routes whose pushes wait until ``release(on:)``.
  var held: Set<String> = []

  private(set) var sent: [(push: OutgoingPush, route: DeliveryRoute)] = []
  private(set) var mostInFlight = 0
  private var inFlight = 0
  private var waiting: [Signal] = []
  private let changed = Signal()

  func route(to target: PushTarget) throws(PushRequestError) -> DeliveryRoute {
    guard let app = target.app else { throw PushRequestError(.targetMalformed, "no app") }
    return DeliveryRoute(channel, name: app)
  }

  func request(
    for push: OutgoingPush, over route: DeliveryRoute
  ) throws(PushRequestError) -> any DeliveryRequest { Request(push: push) }

  func send(
    _ request: any DeliveryRequest, over route: DeliveryRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> DeliveryAttempt {
    guard let request = request as? Request else { preconditionFailure("another deliverer's request") }
    sent.append((request.push, route))
    inFlight += 1
    mostInFlight = max(mostInFlight, inFlight)
    changed.signal(on: reactor)
    if held.contains(route.name) {
      let signal = Signal()
      waiting.append(signal)
      _ = await signal.wait(on: reactor)
    }
    inFlight -= 1
    return answer(request.push, route)
  }

  func release(on reactor: isolated Reactor) {
    held = []
    for signal in waiting { signal.signal(on: reactor) }
    waiting = []
  }

  /// Waits until so many pushes have been asked for since the start.
  func received(_ count: Int, on reactor: isolated Reactor) async throws {
    while sent.count < count {
      guard await changed.wait(for: .seconds(10), on: reactor) else { throw TestFailure("\(sent.count) pushes") }
    }
  }
}
