package import Logging
package import Reactors

/// The configuration of a simulator. Every value has a default. By default it refuses every push until a key, an app
/// and a device are registered.
package struct APNSSimulatorConfiguration: Sendable {
  /// The certificate of the listeners.
  package enum Identity: Sendable {
    /// A private authority is made at the start; see ``APNSSimulator/certificateAuthority``.
    case privateAuthority
    /// PEM text: the certificate followed by its intermediates, and its unencrypted key.
    case pem(certificate: String, key: String)
  }

  /// The address of each environment. Port 0 lets the kernel choose; an environment without an address is not served.
  package var listeners: [SimulatedEnvironment: SocketAddress] = [:]
  /// The address of the control endpoint, in plain HTTP/1.1 without authentication, so use a loopback address. Nil for
  /// none.
  package var control: SocketAddress?
  package var identity = Identity.privateAuthority
  package var registry = SimulationRegistry()
  package var streams = StreamPolicy()
  package var conduct = ServerConduct()
  package var scenario: Scenario?
  /// Push records kept in full.
  package var recordsMax = PushLog.capacityDefault
  /// The number of reactors. One serves tens of thousands of pushes a second.
  package var reactors = 1
  /// The clock for provider tokens and expirations.
  package var clock = SimulationClock()
  /// The seed of made identifiers.
  package var seed = UInt64.random(in: 0...UInt64.max)
  /// Logs each answered push at `debug` by its number in the push log, and the messages of the control endpoint.
  package var logger = Logger(label: "apns-simulator")

  package init() {}
}

/// The conduct of the server towards its clients, beyond single pushes. It may change while the server runs.
package struct ServerConduct: Equatable, Sendable {
  /// An additional delay of every response, in milliseconds.
  package var delayMilliseconds = 0

  /// The time without a request after which a connection ends with `IdleTimeout`, in milliseconds; nil for never. A
  /// change applies to new connections. The real limit is unpublished.
  package var idleMilliseconds: Int?

  /// The limit of new connections; nil for none. The real numbers are unpublished.
  package var churn: ChurnLimit?

  /// Whether users allow updates of a Live Activity that a push started. Without it the activity gets no update token.
  package var allowsActivityUpdates = true

  /// Pushes of priority 10 that a Live Activity shows in an hour; nil for any number. The real budget is unpublished.
  package var activityBudget: Int?

  package init() {}
}

/// A limit of new connections, and its penalty.
package struct ChurnLimit: Codable, Equatable, Sendable {
  /// The most connections within ``seconds``, from 1. Further ones are refused.
  package var connections: Int
  /// The window in which they are counted, in seconds.
  package var seconds: Int
  /// How long all connections are refused then, in milliseconds.
  package var refusedMilliseconds: Int

  /// A limit; numbers below 1 count as 1.
  package init(connections: Int, seconds: Int, refusedMilliseconds: Int) {
    self.connections = max(1, connections)
    self.seconds = max(1, seconds)
    self.refusedMilliseconds = max(1, refusedMilliseconds)
  }

  enum CodingKeys: String, CodingKey, CaseIterable {
    case connections, seconds
    case refusedMilliseconds = "refused_ms"
  }
}

/// The concurrent streams of a connection.
package struct StreamPolicy: Equatable, Sendable {
  /// The most open streams of a trusted connection. 1000 was last observed on the real service (2021).
  package var streamsMax = 1000
  /// Whether a connection has one stream until its first accepted push.
  package var startsWithOne = true
  /// Whether a refusal other than 410 reduces the streams to one until the next accepted push.
  package var dropsAfterRefusal = true
  /// Whether streams over the limit are refused. Otherwise the limit is only announced.
  package var refusesExcess = true
  /// The number of `BadDeviceToken` responses in a row that ends a connection; nil for none. The real number is
  /// unpublished.
  package var badTokensMax: Int? = 20

  package init() {}
}
