import Channels
import PushRules
import TestLogs

@testable import PushPipeline

extension Lane {
  static let second: UInt64 = 1_000_000_000

  /// A lane as a process has it at its start.
  static func new(_ lines: LogLines = LogLines()) -> Lane {
    Lane(PushFixtures.route.delivery, LaneConfiguration(), logger: lines.logger)
  }
}

/// Sends a push at a moment; what becomes of it.
@discardableResult
func send(
  _ attempt: PushAttempt, to device: String = "aa", over lane: Lane, at now: UInt64 = 0
) -> DeviceVerdict {
  if let objection = lane.objection(to: device, now: now) { return objection }
  return lane.conclude(attempt, to: device, now: now, draw: 0.5).verdict
}

/// That a push waits for the lane of these tests.
func waiting(_ reason: String, _ stepBack: DeviceVerdict.StepBack) -> DeviceVerdict {
  .waiting(lane: PushFixtures.route.name, reason: reason, stepBack)
}

// What tests say in the words of APNs.
extension Lane {
  func conclude(
    _ attempt: PushAttempt, to device: String, of user: HostID? = nil, now: UInt64, draw: Double
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    conclude(DeliveryAttempt(attempt), to: device, of: user, now: now, draw: draw)
  }

  func putOff(
    _ attempt: PushAttempt, now: UInt64, draw: Double
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    putOff(DeliveryAttempt(attempt), now: now, draw: draw)
  }

  func concludeUnresolved(
    _ attempt: PushAttempt, because reason: String?, of user: HostID, now: UInt64, draw: Double
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    concludeUnresolved(DeliveryAttempt(attempt), because: reason, of: user, now: now, draw: draw)
  }

  func concludeTrial(_ attempt: PushAttempt, now: UInt64, draw: Double) -> Bool {
    concludeTrial(DeliveryAttempt(attempt), now: now, draw: draw)
  }
}

extension DeliveryPipeline {
  func fault(of route: PushRoute) -> String? { fault(of: route.delivery) }
}
