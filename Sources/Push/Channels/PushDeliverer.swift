package import PushRules
package import Reactors

/// One channel: finds the route to a target, gives a push the channel's form, and hands it to the channel's service.
///
/// A new channel is a folder with a deliverer, its settings, and an entry where the service makes its deliverers. Nothing else
/// knows how a push gets out. Belongs to one reactor.
package protocol PushDeliverer: AnyObject {
  /// A push in the channel's form.
  associatedtype Request: Sendable

  var channel: DeliveryChannel { get }

  /// The routes that are configured; few, and known before any target is.
  var routes: [DeliveryRoute] { get }

  /// Pushes of one route that may be in flight, so that a service that answers slowly does not take everybody's places. Nil for
  /// as many as the pipeline has.
  var pushesInFlightMax: Int? { get }

  /// The route to a target. It need not be configured.
  /// - Throws: ``PushRequestError`` when no push can reach the target.
  func route(to target: PushTarget) throws(PushRequestError) -> DeliveryRoute

  /// The push in the channel's form.
  /// - Throws: ``PushRequestError`` when the target or the content does not fit the channel.
  func request(
    for push: Push, to addressee: Addressee, over route: DeliveryRoute
  ) throws(PushRequestError) -> Request

  /// What a push is called at the service, for the ledger; nil where the service gives no name before it answers.
  func identifier(of request: Request) -> String?

  /// Sends a push once, and again only when the service provably did not process it.
  /// - Parameters:
  ///   - deadline: the latest end of the attempt, in monotonic nanoseconds, as `Reactor.now`.
  ///   - permit: asked each time before the push goes; one that has ended withdraws it. Nil lets it go.
  func send(
    _ request: Request, over route: DeliveryRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> DeliveryAttempt

  /// Where a target may be known that a route does not know; nil for nowhere.
  func route(besides route: DeliveryRoute) -> DeliveryRoute?

  /// What a route over which a target was accepted is called in the target's registration.
  func environment(of route: DeliveryRoute) -> String?

  /// Ends what is in flight and closes all connections.
  func close(on reactor: isolated Reactor)
}

extension PushDeliverer {
  package var pushesInFlightMax: Int? { nil }

  package func identifier(of request: Request) -> String? { nil }

  package func route(besides route: DeliveryRoute) -> DeliveryRoute? { nil }

  package func environment(of route: DeliveryRoute) -> String? { nil }

  package func close(on reactor: isolated Reactor) {}
}
