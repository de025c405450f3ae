internal import PushRules
internal import PushStore

/// Folds the verdicts on one recipient's devices into one outcome. Pure: times and draws come in.
struct RecipientDelivery {
  private let recipient: PushRecipient
  private var accepted: [String]
  private var firstFailure: String?
  /// Why devices are put off, in the order of their verdicts; each with its mark.
  private var putOff: [(mark: String, reason: String?)] = []
  private var postponed: [PostponedDevice] = []
  private var lanes: Set<String> = []
  private var isShadowed = false
  private var stepBack = DeviceVerdict.StepBack.none
  private var claimedAt: Int64 = 0
  private(set) var acceptedMicroseconds: Int64?
  private(set) var deadTargets: [DeadTarget] = []
  private(set) var learntEnvironments: [LearntEnvironment] = []
  private(set) var pending: Int

  init(of recipient: PushRecipient) {
    self.recipient = recipient
    accepted = recipient.acceptedDevices
    pending = recipient.targets.count
  }

  /// Adds the verdict on the push to one device.
  /// - Parameters:
  ///   - elapsed: from the claim to now, in microseconds.
  ///   - claimedAt: when the push was claimed and the registration read; microseconds since 1970.
  mutating func add(_ verdict: DeviceVerdict, for target: PushTarget, elapsed: Int64, claimedAt: Int64) {
    pending -= 1
    self.claimedAt = claimedAt
    switch verdict {
    case .accepted:
      accept(target, elapsed)
    case .acceptedElsewhere(let environment):
      accept(target, elapsed)
      learntEnvironments.append(
        LearntEnvironment(target: target, environment: environment, readAt: claimedAt))
    case .dead(let reason, let milliseconds):
      deadTargets.append(
        DeadTarget(
          address: target.address, reason: reason ?? "dead", sinceMilliseconds: milliseconds, claimedAt: claimedAt))
      firstFailure = firstFailure ?? reason
    case .refused(let reason):
      firstFailure = firstFailure ?? reason
      postponed.append(PostponedDevice(mark: target.mark, reason: reason, wait: .never))
    case .shadowed:
      isShadowed = true
    case .postponed(let reason, let minimum):
      putOff.append((target.mark, reason))
      postponed.append(PostponedDevice(mark: target.mark, reason: reason, wait: .atLeast(minimum)))
    case .resting(let wait):
      putOff.append((target.mark, wait.reason))
      postponed.append(
        PostponedDevice(mark: target.mark, reason: wait.reason, wait: .until(.microseconds(wait.until - claimedAt))))
    case .waiting(let lane, let reason, let stepBack):
      putOff.append((target.mark, reason))
      lanes.insert(lane)
      self.stepBack = max(self.stepBack, stepBack)
    }
  }

  /// The outcome, once no device is pending. Each device waits for its own time, and the recipient for the first of them. A device
  /// that may not be tried again within the message's life has failed, for the reason that kept the push from being sent.
  func outcome(_ pacing: RetryPacing) -> RecipientOutcome {
    var outcome = RecipientOutcome(userID: recipient.userID, decision: .sent, acceptedDevices: accepted)
    outcome.acceptedMicroseconds = acceptedMicroseconds
    outcome.heldFor = recipient.situation.heldFor
    outcome.retries = recipient.retries
    outcome.waitsFromMicroseconds = pacing.elapsed.wholeMicroseconds
    let expired = pacing.plan(&outcome, for: recipient, postponed, claimedAt: claimedAt, lanes: lanes, stepBack)
    if accepted.isEmpty, isShadowed {
      outcome.decision = .skipped
      outcome.reason = ShadowedKinds.reason
    } else if accepted.isEmpty {
      let isFinal = outcome.remaining == nil
      outcome.decision = isFinal ? .failed : .held
      let reasons = putOff.filter { isFinal || !expired.contains($0.mark) }.compactMap(\.reason)
      outcome.reason = reasons.first ?? (isFinal ? firstFailure : nil)
    }
    return outcome
  }

  private mutating func accept(_ target: PushTarget, _ elapsed: Int64) {
    accepted.append(target.mark)
    acceptedMicroseconds = acceptedMicroseconds ?? elapsed
  }
}

/// A device that is not tried again before its own time.
struct PostponedDevice {
  /// When: after what its answer has asked for at the least, or as an earlier answer has said, counted from the claim. Never for a push
  /// that was refused.
  enum Wait {
    case atLeast(Duration)
    case until(Duration)
    case never
  }

  let mark: String
  let reason: String?
  let wait: Wait
}

/// What becomes of a push to one device.
enum DeviceVerdict: Equatable, Sendable {
  /// Whether a push that waits for its lane steps back first, so that others probe it too.
  enum StepBack: Comparable, Sendable {
    /// It was not tried: due as soon as the lane is back.
    case none
    /// For some seconds: any push may probe.
    case brief
    /// For longer from time to time: this push may be the wrong one to probe with.
    case long
  }

  case accepted
  /// The service took it in an environment that the target's registration does not name.
  case acceptedElsewhere(environment: String)
  /// The target is dropped, unless it was registered after this moment in milliseconds since 1970; after the claim without
  /// one.
  case dead(reason: String?, sinceMilliseconds: Int64?)
  case refused(reason: String?)
  /// It is tried again on its own, after this time at the least.
  case postponed(reason: String?, minimum: Duration)
  /// It was not tried, because the wait that an earlier answer has asked for is not over.
  case resting(DeviceWait)
  /// It would have been sent over this lane, and its kind is not sent.
  case shadowed(lane: String, identifier: String?)
  case waiting(lane: String, reason: String?, StepBack)

  /// The same, except that a target is kept instead of dropped.
  var sparingTarget: DeviceVerdict {
    if case .dead(let reason, _) = self { .refused(reason: reason) } else { self }
  }
}

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
