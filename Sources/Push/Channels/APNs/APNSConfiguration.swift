internal import HTTP2
internal import PushRules

/// How the client behaves towards one APNs host. Each pool, one for each environment and reactor, counts for itself.
package struct APNSConfiguration: Sendable {
  /// The whole time for name look-up, connect and handshake.
  package var connectLimit = Duration.seconds(5)

  /// How long a push waits for a connection. The facts of its decision get old meanwhile; a push that comes back later is
  /// decided anew.
  package var connectionWait = Duration.seconds(1)

  /// Resends of a push that APNs provably did not process. Each needs a separate fault; more than three in a row are an
  /// outage, which the queue handles better.
  package var resendsMax = 3

  /// Connections at once, without draining ones. APNs grants 1,000 streams and answers in some 100 ms, so four carry 40,000
  /// pushes a second, more than one reactor makes. Apple publishes no limit.
  package var connectionsMax = 4

  /// How long seven eighths of the streams must be in use before another connection is opened. Longer than the burst of
  /// one large group message, shorter than a recipient notices.
  package var growAfter = Duration.milliseconds(250)

  /// How long half of the other connections' streams must have been enough before one is closed; the last one stays.
  /// APNs wants connections kept for hours, so one opened for a peak serves the next peaks too.
  package var shrinkAfter = Duration.seconds(30 * 60)

  /// Connects in quick succession; after them, one per ``connectInterval``. With two seconds, no minute sees more than 50.
  /// Apple publishes no limit; one a second is said to be punished.
  package var connectBurst = 20

  package var connectInterval = Duration.seconds(2)

  var http2 = Self.http2Defaults

  package init() {}

  /// With requests on the wire a live connection is never silent for a second. After one second comes the PING, half a second
  /// later another connection: pushes flow again in less than two. Requests on the dead connection end after three and a half.
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

package struct APNSEndpoint: Hashable, Sendable {
  /// A name or numeric address; the certificate must be for it.
  package let host: String

  /// 443, or 2197 for firewalls that block it.
  package let port: UInt16

  package init(host: String, port: UInt16 = 443) {
    self.host = host
    self.port = port
  }
}
