/// A request and its response, in the form of the control endpoint.
package struct PushRecord: Codable, Equatable, Sendable {
  /// The request's number since the start, from 1, without gaps.
  package internal(set) var number = 0
  /// When the request's last byte was read, in microseconds since 1970.
  package var arrivedMicroseconds: Int64
  /// When the connection got the response, in microseconds since 1970; nil if it did not.
  package var answeredMicroseconds: Int64?
  package var environment: SimulatedEnvironment
  /// The connection's number since the start, from 1.
  package var connection: Int
  package var stream: Int32
  /// The device token as sent; empty when there was none.
  package var token: String
  /// `apns-topic`. This and the next fields have their default, or nil, where the request had none.
  package var topic: String
  package var pushType: SimulatedPushType?
  /// `apns-priority`, 10 when absent.
  package var priority: Int
  /// `apns-expiration`, Unix seconds.
  package var expirationSeconds: Int64?
  /// Whether the service would store the push for an offline device, by its expiration at its arrival.
  package var isStored = false
  /// The response's `apns-id`.
  package var identifier: String
  package var collapseID: String?
  /// The beginning of the provider token's SHA-256, in hexadecimal.
  package var providerTokenHash: String?
  /// The body as text. Invalid UTF-8 is replaced.
  package var payload: String
  package var status: Int
  package var reason: String?

  private enum CodingKeys: String, CodingKey {
    case number, environment, connection, stream, token, topic, priority, payload, status, reason
    case arrivedMicroseconds = "arrived_us"
    case answeredMicroseconds = "answered_us"
    case pushType = "push_type"
    case expirationSeconds = "expiration"
    case isStored = "stored"
    case identifier = "apns_id"
    case collapseID = "collapse_id"
    case providerTokenHash = "jwt"
  }
}

package struct RequestOrigin: Equatable, Sendable {
  package var environment: SimulatedEnvironment
  /// The connection's number since the start, from 1.
  package var connection: Int
  package var stream: Int32
  /// When the request's last byte was read.
  package var arrival: WallInstant

  package init(environment: SimulatedEnvironment, connection: Int, stream: Int32, arrival: WallInstant) {
    self.environment = environment
    self.connection = connection
    self.stream = stream
    self.arrival = arrival
  }
}

extension PushRecord {
  /// The record of a judged request before its response.
  init(_ request: InspectedRequest, from origin: RequestOrigin, judged verdict: PushVerdict) {
    self.init(
      arrivedMicroseconds: origin.arrival.microseconds,
      environment: origin.environment,
      connection: origin.connection,
      stream: origin.stream,
      token: verdict.push.token,
      topic: verdict.push.topic,
      pushType: verdict.push.pushType,
      priority: verdict.push.priority,
      expirationSeconds: verdict.push.expirationSeconds,
      isStored: verdict.status == 200 && verdict.isStored,
      identifier: verdict.identifier,
      collapseID: verdict.push.collapseID,
      providerTokenHash: verdict.push.providerTokenHash,
      payload: String(decoding: request.body, as: UTF8.self),
      status: verdict.status,
      reason: verdict.reason)
  }
}
