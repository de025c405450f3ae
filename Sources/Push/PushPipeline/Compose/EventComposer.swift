internal import Channels
internal import Logging
internal import PushRules
internal import PushStore

// Compose: what an event says, once, and then the push for each target.
extension DeliveryPipeline {
  /// What an event says; nil when it is gone or fits no push.
  func compose(_ event: PushEvent) -> ComposedPush? {
    compose(event) { content throws(PushRequestError) in try ComposedPush(content, about: event.subject) }
  }

  /// The same, in the words of a closure.
  func compose(
    _ event: PushEvent, _ push: (any PushContent) throws(PushRequestError) -> ComposedPush?
  ) -> ComposedPush? {
    do throws(PushRequestError) {
      guard let content = event.content else { return nil }
      return try push(content)
    } catch {
      logger.error("cannot compose", metadata: ["subject_id": "\(event.subject.id.text)", "error": "\(error)"])
      return nil
    }
  }
}

extension PushEvent {
  /// The push for one target of a recipient.
  /// - Parameter timeToLive: how long the service may keep it for a device that is off, unless the push says otherwise.
  func push(
    _ push: PreparedPush, to target: PushTarget, of recipient: PushRecipient, timeToLive: Duration
  ) -> OutgoingPush {
    OutgoingPush(
      push, to: target, of: recipient.userID, about: subject, enqueuedAt: enqueuedAt, unread: recipient.badge,
      expiresAt: expiresAt(for: recipient, timeToLive: timeToLive))
  }

  /// The end of a push's life, in seconds since 1970.
  ///
  /// As for the suppression rules, time on hold does not count unless the push has its own life: a message held for quiet hours
  /// is worth as much in the morning.
  private func expiresAt(for recipient: PushRecipient, timeToLive: Duration) -> Int64 {
    let situation = recipient.situation
    let held = situation.life == nil ? situation.heldFor.wholeMicroseconds : 0
    let (end, overflow) = datedAt.addingReportingOverflow(held)
    return (overflow ? .max : end) / 1_000_000 + (situation.life ?? timeToLive).components.seconds
  }
}
