import PushRules
import PushStore

@testable import PushPipeline

extension PushFixtures {
  /// A delivery whose devices' pushes have ended like this.
  static func delivery(
    of verdicts: [DeviceVerdict], accepted: [String] = [], retries: Int = 0,
    situation: RecipientSituation = RecipientSituation()
  ) -> RecipientDelivery {
    let recipient = recipient(
      situation: situation, devices: Array([phone, tablet].prefix(verdicts.count)), accepted: accepted, retries: retries
    )
    var delivery = RecipientDelivery(of: recipient)
    for (device, verdict) in zip(recipient.devices, verdicts) {
      delivery.note(verdict, for: device, elapsed: 700, claimedAt: 5000)
    }
    return delivery
  }

  static func makePacing(attempts: Int = 1, elapsed: Duration = .zero, draw: Double = 0) -> RetryPacing {
    RetryPacing(
      policy: RetryPolicy(), attempts: attempts, timeToLive: .seconds(3600), elapsed: elapsed, draw: draw)
  }
}
