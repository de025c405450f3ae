internal import APNSCore
internal import HTTP2

/// How the client behaves towards one APNs host. Each lane, that is each environment on each reactor, counts for itself.
public struct APNSConfiguration: Sendable {
  /// The whole time for name look-up, connect and handshake.
  public var connectLimit = Duration.seconds(5)

  /// How long a push waits for a connection. What was known when it was decided gets old meanwhile; a push that comes
  /// back later is decided anew.
  public var connectionWait = Duration.seconds(1)

  /// Resends of a push that APNs provably did not process. Each needs a fault of its own; more than three in a row are
  /// an outage, which the queue handles better.
  public var resendsMax = 3

  /// Connections at once, those that drain not counted. APNs grants 1,000 streams and answers in some 100 ms, so four
  /// carry 40,000 pushes a second, more than one reactor makes. Its own bound is unpublished.
  public var connectionsMax = 4

  /// How long seven eighths of the streams must be in use before another connection is opened. Longer than the burst of
  /// one large group message, shorter than anybody notices.
  public var growAfter = Duration.milliseconds(250)

  /// How long half of the other connections' streams must have been enough before one is closed; the last one stays.
  /// APNs wants connections kept for hours: what an afternoon needed is not opened anew for each of its peaks.
  public var shrinkAfter = Duration.seconds(30 * 60)

  /// Connects in quick succession, before one per ``connectInterval`` is the rule. With two seconds, no minute sees
  /// more than 50. Where APNs begins to refuse is unpublished; once a second is said to be punished.
  public var connectBurst = 20

  /// See ``connectBurst``.
  public var connectInterval = Duration.seconds(2)

  /// Streams, silence and stream ids.
  var http2 = Self.http2Defaults

  /// The defaults.
  public init() {}

  /// With requests on the wire APNs is never silent for a second, unless the connection is dead. One second until the
  /// PING, half of one until it is late and another connection is opened: pushes flow again after less than two. What
  /// was on the dead connection is given up at three and a half.
  private static var http2Defaults: HTTP2ClientConfiguration {
    var configuration = HTTP2ClientConfiguration()
    // APNs allows one stream until it has answered a request with a valid token, and says so in its settings.
    configuration.initialStreamsMax = 1
    configuration.silenceBeforePing = .seconds(1)
    configuration.pingLateAfter = .milliseconds(500)
    configuration.pingTimeout = .milliseconds(2500)
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
