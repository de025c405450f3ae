internal import DequeModule

/// A channel management request and its response, in the form of the control endpoint.
public struct ChannelRequestRecord: Codable, Equatable, Sendable {
  /// When the request's last byte was read, in microseconds since 1970.
  public let arrivedMicroseconds: Int64
  /// The listener's environment.
  public let environment: SimulatedEnvironment
  /// The connection's number since the start, from 1.
  public let connection: Int
  /// The HTTP/2 stream.
  public let stream: Int32
  /// `:method`.
  public let method: String
  /// `:path`.
  public let path: String
  /// `apns-channel-id` of the request, or of the response that created a channel.
  public let channel: String?
  /// The response's `apns-request-id`.
  public let identifier: String
  /// The beginning of the provider token's SHA-256, in hexadecimal.
  public let providerTokenHash: String?
  /// The response's status.
  public let status: Int
  /// The response's reason.
  public let reason: String?

  private enum CodingKeys: String, CodingKey {
    case environment, connection, stream, method, path, channel, status, reason
    case arrivedMicroseconds = "arrived_us"
    case identifier = "apns_request_id"
    case providerTokenHash = "jwt"
  }

  init(_ request: InspectedRequest, from origin: RequestOrigin, judged verdict: PushVerdict) {
    arrivedMicroseconds = origin.arrival.microseconds
    environment = origin.environment
    connection = origin.connection
    stream = origin.stream
    method = request.method
    path = request.path
    channel = verdict.issuedChannel ?? verdict.push.channel
    identifier = verdict.identifier
    providerTokenHash = verdict.push.providerTokenHash
    status = verdict.status
    reason = verdict.reason
  }
}

/// The latest channel management requests. They are no pushes, so the push log does not count them.
public struct ChannelRequestLog: Sendable {
  /// The number of records kept: as many as an app may have channels.
  static let capacity = 10_000

  /// Requests since the start, including evicted ones.
  public private(set) var total = 0

  private var kept: Deque<ChannelRequestRecord> = []

  /// No requests.
  public init() {}

  /// The latest records, oldest first.
  public var records: [ChannelRequestRecord] { Array(kept) }

  mutating func append(_ record: ChannelRequestRecord) {
    total += 1
    if kept.count == Self.capacity { kept.removeFirst() }
    kept.append(record)
  }
}
