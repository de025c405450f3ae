internal import Postgres

/// How much one claim takes, and for how long.
package struct ClaimLimits: Equatable, Sendable {
  /// A lane that takes pushes now, and how many of the deliveries that wait for it.
  package struct RouteLimit: Equatable, Sendable {
    /// As the record named it.
    package let name: String
    package let deliveriesMax: Int

    package init(_ name: String, deliveriesMax: Int) {
      self.name = name
      self.deliveriesMax = deliveriesMax
    }
  }

  /// Recipients of one event unless the caller says otherwise: as many as are decided within some milliseconds, so that
  /// other work waits no longer than that.
  package static let recipientsMaxDefault = 250

  /// Device tokens of one user at the most, the newest ones where the host's function knows them: five times as many as a
  /// user keeps unless `DEVICES_PER_USER_MAX` says otherwise, and few enough that one user's are no burst.
  package static let devicesMax = 50

  /// Rescues unless the caller says otherwise. With a lease of 30 s that doubles from the third claim on, six are
  /// 32 minutes: long enough for a fault that passes, and a replay finds the message within the hour that a push is
  /// worth sending.
  package static let rescuesMaxDefault = 6

  /// New events at the most.
  package var eventsMax: Int

  /// Rescued events, and holds and retries that are due, at the most each.
  package var deliveriesMax: Int

  /// Recipients of one event at the most; more come with a later claim.
  package var recipientsMax = Self.recipientsMaxDefault

  package var lanes: [RouteLimit] = []

  package var lease: Duration

  /// How often a lease may run out before the work is left to be parked.
  package var rescuesMax = Self.rescuesMaxDefault

  /// How old a message may have been when it was enqueued; a day unless the caller says otherwise. What was older is not
  /// claimed; see ``PushDatabase/discardTooOld(life:rowsMax:on:)``.
  package var life = Duration.seconds(86_400)

  /// How far back a claim of messages looks, from the database's now; at most ``lookBackMax``.
  package var lookBack = Self.lookBackMax {
    didSet { lookBack = min(lookBack, Self.lookBackMax) }
  }

  /// Five minutes. What was enqueued with an age is available since then, and is left to a claim of everything.
  package static let lookBackMax = Duration.seconds(300)

  /// How old a new message must be for a claim of everything; younger ones are left to claims of messages.
  package var messageAge = Duration.zero

  package init(eventsMax: Int, deliveriesMax: Int, lanes: [RouteLimit] = [], lease: Duration) {
    self.eventsMax = eventsMax
    self.deliveriesMax = deliveriesMax
    self.lanes = lanes
    self.lease = lease
  }

}

extension StatementCall {
  static func claim(_ limits: ClaimLimits) -> StatementCall {
    .claim(
      eventsMax: limits.eventsMax, deliveriesMax: limits.deliveriesMax,
      leaseMicroseconds: limits.lease.wholeMicroseconds, recipientsMax: limits.recipientsMax,
      rescuesMax: limits.rescuesMax, lanes: limits.lanes.map(\.name),
      laneDeliveriesMax: limits.lanes.map(\.deliveriesMax), lifeMicroseconds: limits.life.wholeMicroseconds,
      messageAgeMicroseconds: limits.messageAge.wholeMicroseconds)
  }

  static func claimMessages(_ limits: ClaimLimits) -> StatementCall {
    .claimMessages(
      messagesMax: limits.eventsMax, leaseMicroseconds: limits.lease.wholeMicroseconds,
      recipientsMax: limits.recipientsMax, lookBackMicroseconds: limits.lookBack.wholeMicroseconds)
  }

  static func lease(_ limits: ClaimLimits) -> StatementCall {
    .lease(
      eventsMax: limits.eventsMax, deliveriesMax: limits.deliveriesMax,
      leaseMicroseconds: limits.lease.wholeMicroseconds, rescuesMax: limits.rescuesMax,
      lanes: limits.lanes.map(\.name), laneDeliveriesMax: limits.lanes.map(\.deliveriesMax),
      lifeMicroseconds: limits.life.wholeMicroseconds,
      messageAgeMicroseconds: limits.messageAge.wholeMicroseconds)
  }
}
