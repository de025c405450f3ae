internal import APNSCore
internal import HTTP2

/// How the client behaves towards one APNs host.
public struct APNSConfiguration: Sendable {
  /// The whole time for name look-up, connect and handshake.
  public var connectLimit = Duration.seconds(5)

  /// The whole time one push may take, waiting for a connection or a stream and resends included. Shorter than a
  /// claim's lease, so that its outcome is still ours to record.
  public var requestLimit = Duration.seconds(10)

  /// How long a push waits for a connection. What was known when it was decided gets old meanwhile; a push that comes
  /// back later is decided anew.
  public var connectionWait = Duration.seconds(1)

  /// Resends of a push that APNs provably did not process. Each needs a fault of its own; more than three in a row are
  /// an outage, which the queue handles better.
  public var resendsMax = 3

  /// The defaults.
  public init() {}

  /// APNs allows one stream until it has answered a request with a valid token, and says so in its settings.
  var http2: HTTP2ClientConfiguration {
    var configuration = HTTP2ClientConfiguration()
    configuration.initialStreamsMax = 1
    return configuration
  }
}

/// Where an APNs environment is reached.
public struct APNSEndpoint: Hashable, Sendable {
  /// A name or numeric address; the certificate must be for it.
  public let host: String

  /// 443, or 2197 where a firewall wants pushes on a port of their own.
  public let port: UInt16

  /// Names an endpoint.
  public init(host: String, port: UInt16 = 443) {
    self.host = host
    self.port = port
  }
}
