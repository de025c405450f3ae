/// Where and when a request came in.
public struct RequestOrigin: Equatable, Sendable {
  /// The listener's environment.
  public var environment: SimulatedEnvironment
  /// The connection's number since the start, from 1.
  public var connection: Int
  /// The HTTP/2 stream.
  public var stream: Int32
  /// When the request's last byte was read.
  public var arrival: WallInstant

  /// An origin from its parts.
  public init(environment: SimulatedEnvironment, connection: Int, stream: Int32, arrival: WallInstant) {
    self.environment = environment
    self.connection = connection
    self.stream = stream
    self.arrival = arrival
  }
}

extension PushRecord {
  /// The record of a judged request that is not answered yet.
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
