import Channels
import PushRules
import Reactors

/// A number of pushes, sent as the pipeline does it: what was not answered, or is to be sent later, goes again under the
/// same identifiers until it is accepted.
final class Campaign {
  /// The pipeline waits for a second; the tests have less time.
  private static let resendWait = Duration.milliseconds(20)

  /// When a push counts as lost.
  private static let limit = Duration.seconds(30)

  private let scene: FaultScene
  private let client: APNSClient
  private let attemptLimit: UInt64
  private let progress = Signal()
  private var next = 0
  private var finished = 0

  /// Monotonic nanoseconds of each acceptance.
  private(set) var acceptances: [UInt64] = []
  /// Pushes that the client gave back instead of an acceptance, by reason.
  private(set) var returned: [String: Int] = [:]

  /// - Parameter attemptLimit: the time that the client has for a push before it gives it back.
  init(_ scene: FaultScene, over client: APNSClient, attemptLimit: Duration = .seconds(10)) {
    self.scene = scene
    self.client = client
    self.attemptLimit = attemptLimit.clampedNanoseconds
  }

  /// Keeps so many pushes under way until all have been sent.
  func start(_ count: Int, atOnce width: Int, on reactor: isolated Reactor) {
    for _ in 0..<width {
      reactor.start { [self] in
        while next < count { await sendNext(on: reactor) }
      }
    }
  }

  /// Sends at an even pace, whatever becomes of the pushes.
  func start(_ count: Int, every interval: Duration, on reactor: isolated Reactor) {
    reactor.start { [self] in
      let begin = ContinuousClock.now
      for number in 0..<count {
        await reactor.sleep(for: begin + interval * number - .now)
        reactor.start { await self.sendNext(on: reactor) }
      }
    }
  }

  /// Waits until so many pushes have been accepted or given up.
  func finished(_ count: Int, on reactor: isolated Reactor) async {
    while finished < count { _ = await progress.wait(for: .seconds(60), on: reactor) }
  }

  private func sendNext(on reactor: isolated Reactor) async {
    let number = next
    next += 1
    let isAccepted = await send(number, on: reactor)
    if isAccepted { acceptances.append(Reactor.now) }
    finished += 1
    progress.signal(on: reactor)
  }

  private func send(_ number: Int, on reactor: isolated Reactor) async -> Bool {
    guard let request = try? scene.push(number) else { return false }
    let end = ContinuousClock.now + Self.limit
    while ContinuousClock.now < end {
      let attempt = await client.send(
        request, to: .production, until: Reactor.now &+ attemptLimit, on: reactor)
      switch attempt.disposition {
      case .accepted: return true
      case .retryLater, .reconnect: returned[attempt.reason ?? "", default: 0] += 1
      default: return false
      }
      await reactor.sleep(for: Self.resendWait)
    }
    return false
  }
}
