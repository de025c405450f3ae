import APNS
import APNSCore
import TestLogs

@testable import PushPipeline

extension Lane {
  static let second: UInt64 = 1_000_000_000

  /// A lane as a process has it at its start.
  static func new(_ lines: LogLines = LogLines()) -> Lane {
    Lane(PushFixtures.route, LaneConfiguration(), logger: lines.logger)
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
