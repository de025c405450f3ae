internal import PushRules
internal import PushStore

/// The waits of one push: the policy, its history, and a draw.
struct RetryPacing {
  /// After a fault of its lane a push steps back for at most this long, so that others probe too.
  static let briefMax = Duration.seconds(5)

  /// A push that may be the wrong one to probe with comes back after at most five of a shut lane's longest waits, so that
  /// others have probed it by then.
  static let longMax = Duration.seconds(300)

  let policy: RetryPolicy
  /// Claims so far, the present one included.
  let attempts: Int
  let timeToLive: Duration
  /// From the claim to the last answer, where all waits begin. Never too little.
  let elapsed: Duration
  /// A random number in `0 ..< 1`.
  let draw: Double

  /// What remains, and when it is due. A push is one row: waiting for two lanes, or for a lane and a time, makes it a retry, which
  /// is due with the first device that may be tried. A time beyond the message's life leaves the others.
  /// - Parameters:
  ///   - postponed: devices that are tried again on their own.
  ///   - claimedAt: the claim's date, in microseconds since 1970.
  ///   - lanes: those that pushes wait for.
  /// - Returns: the marks of devices that may not be tried within the message's life.
  func plan(
    _ outcome: inout RecipientOutcome, for recipient: PushRecipient, _ postponed: [PostponedDevice], claimedAt: Int64,
    lanes: Set<String>, _ stepBack: DeviceVerdict.StepBack
  ) -> Set<String> {
    let life = life(of: recipient.situation)
    let all = postponed.map { ($0, wait(of: $0, afterRetries: recipient.retries)) }
    let waits = all.filter { $1 <= life }
    var due = waits.map(\.1).min()
    if let lane = lanes.first {
      let isAlone = lanes.count == 1 && waits.isEmpty
      let wait = isAlone ? laneWait(stepBack) : lanesWait(within: life)
      if wait <= life {
        due = min(due ?? wait, wait)
        outcome.lane = isAlone ? lane : nil
      }
    }
    let expired = Set(all.filter { $1 > life }.map(\.0.mark))
    guard let due else { return expired }
    outcome.due = due
    outcome.remaining = outcome.lane == nil ? .retryable : .waiting
    if waits.contains(where: { if case .atLeast = $0.0.wait { true } else { false } }) { outcome.retries += 1 }
    // Also those that may not be tried any more: the retry of another device must not try them.
    for (device, wait) in all where wait > due {
      let until = (.microseconds(claimedAt) + elapsed + wait).clampedMicroseconds
      outcome.deviceWaits[device.mark] = DeviceWait(until: until, reason: device.reason)
    }
    return expired
  }

  private func wait(of device: PostponedDevice, afterRetries retries: Int) -> Duration {
    switch device.wait {
    case .atLeast(let minimum): policy.wait(afterRetries: retries, minimum: minimum, draw: draw)
    case .until(let end): max(.zero, end - elapsed)
    case .never: .microseconds(Int64.max)
    }
  }

  /// The wait of a push before it may probe its lane again.
  func laneWait(_ stepBack: DeviceVerdict.StepBack) -> Duration {
    let wait = policy.wait(afterRetries: attempts - 1, minimum: .zero, draw: draw)
    return switch stepBack {
    case .none: .zero
    case .brief: min(wait, Self.briefMax)
    case .long: min(wait, Self.longMax)
    }
  }

  /// The wait of a push that no single lane wakes. It comes back by half of its remaining life, before it expires, but not
  /// within seconds, so that the halves do not become ever shorter.
  func lanesWait(within life: Duration) -> Duration {
    min(laneWait(.long), max(life / 2, laneWait(.brief)))
  }

  /// The rest of the message's life; a try at its very end is still allowed.
  func life(of situation: RecipientSituation) -> Duration {
    timeToLive - (situation.messageAge - situation.heldFor) - elapsed
  }
}

extension Duration {
  fileprivate var clampedMicroseconds: Int64 {
    components.seconds < Int64.max / 1_000_000 - 1 ? wholeMicroseconds : .max
  }
}

package struct RetryPolicy: Sendable {
  /// The first wait. A reconnect takes less, and the collapse identifier makes an early resend harmless.
  package var base = Duration.seconds(1)

  /// Where the doubling ends: Apple's own wait after a fault of the service. A push reaches it after ten such faults while
  /// others pass.
  package var ceiling = PushDisposition.serviceFaultWait

  package init() {}

  /// The wait before the next try: the longer of `base` and `minimum`, doubled for each earlier retry up to `ceiling`, and then
  /// drawn from a half around it, so that pushes that failed together do not come back together. The half lies below without
  /// a `minimum`, and above with one.
  /// - Parameters:
  ///   - retries: how often this push was put off before, from 0.
  ///   - minimum: the wait that the answer asks for.
  ///   - draw: a random number in `0 ..< 1`.
  package func wait(afterRetries retries: Int, minimum: Duration, draw: Double) -> Duration {
    let doublings = min(max(retries, 0), 30)
    let whole = min(max(base, minimum) * (1 << doublings), max(ceiling, minimum))
    return (minimum > .zero ? whole : whole / 2) + whole * (draw / 2)
  }
}

/// The random part of waits. Every push draws twice, and the system's generator would be a system call each time.
///
/// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014), seeded by the system's generator,
/// so that processes differ. The draws are not secret.
struct Jitter: RandomNumberGenerator {
  private var state = UInt64.random(in: .min ... .max)

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func draw() -> Double { Double.random(in: 0..<1, using: &self) }
}
