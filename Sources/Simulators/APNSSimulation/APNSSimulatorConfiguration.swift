public import Logging
public import Reactors

/// What a simulator is started with; every value has a default, with which it refuses every push until a key, an app and
/// a device are registered.
public struct APNSSimulatorConfiguration: Sendable {
  /// What the listeners prove themselves with.
  public enum Identity: Sendable {
    /// A private authority is made at the start; see ``APNSSimulator/certificateAuthority``.
    case privateAuthority
    /// PEM text: the certificate, its intermediates after it, and its unencrypted key.
    case pem(certificate: String, key: String)
  }

  /// Where each environment listens. Port 0 lets the kernel choose; an environment without an address is not served.
  public var listeners: [SimulatedEnvironment: SocketAddress] = [:]
  /// Where the control endpoint listens, in plain HTTP/1.1 and without authentication: a loopback address. Nil leaves it
  /// out.
  public var control: SocketAddress?
  /// What the listeners prove themselves with.
  public var identity = Identity.privateAuthority
  /// Keys, apps and devices to begin with.
  public var registry = SimulationRegistry()
  /// How many streams connections get.
  public var streams = StreamPolicy()
  /// How the server treats its clients as a whole.
  public var conduct = ServerConduct()
  /// What is registered and what goes wrong, in order; nil for nothing.
  public var scenario: Scenario?
  /// Push records kept in full.
  public var recordsMax = PushLog.capacityDefault
  /// Reactors; one serves tens of thousands of pushes a second.
  public var reactors = 1
  /// The time that provider tokens and expirations are measured by.
  public var clock = SimulationClock()
  /// Where made identifiers are drawn from.
  public var seed = UInt64.random(in: 0...UInt64.max)
  /// Gets each answered push at `debug`, by its number in the push log, and what the control endpoint has to say.
  public var logger = Logger(label: "apns-simulator")

  /// No listeners, and every default.
  public init() {}
}

/// How the server as a whole treats its clients, beyond the judgement of single pushes. May be changed while it runs.
public struct ServerConduct: Equatable, Sendable {
  /// How much longer than usual every answer takes, in milliseconds.
  public var delayMilliseconds = 0

  /// How long a connection may be without a request before it is ended with `IdleTimeout`, in milliseconds; nil is for
  /// ever. Holds for connections opened afterwards. The real limit is unpublished.
  public var idleMilliseconds: Int?

  /// When clients that connect too often are refused; nil never. The real numbers are unpublished.
  public var churn: ChurnLimit?

  /// Answers at once, and endless patience.
  public init() {}
}

/// When connecting counts as an attack, and what follows.
public struct ChurnLimit: Codable, Equatable, Sendable {
  /// Connections within ``seconds`` that are taken, from 1; the next one is refused, with all that follow.
  public var connections: Int
  /// The time in which they are counted, in seconds.
  public var seconds: Int
  /// How long connections are refused then, in milliseconds.
  public var refusedMilliseconds: Int

  /// A limit; numbers below 1 count as 1.
  public init(connections: Int, seconds: Int, refusedMilliseconds: Int) {
    self.connections = max(1, connections)
    self.seconds = max(1, seconds)
    self.refusedMilliseconds = max(1, refusedMilliseconds)
  }

  enum CodingKeys: String, CodingKey, CaseIterable {
    case connections, seconds
    case refusedMilliseconds = "refused_ms"
  }
}

/// How many pushes a connection may have in flight, and what its behaviour does to that number.
public struct StreamPolicy: Equatable, Sendable {
  /// Streams that a trusted connection may have open at once. 1000 is what was last seen of the real service (2021).
  public var streamsMax = 1000
  /// Whether a connection has one stream until its first push was accepted.
  public var startsWithOne = true
  /// Whether a refusal other than 410 takes the streams down to one, until the next push is accepted.
  public var dropsAfterRefusal = true
  /// Whether streams over the limit are refused; otherwise the limit is only announced.
  public var refusesExcess = true
  /// `BadDeviceToken` answers without a success between them that end a connection; nil never does. The real number is
  /// unpublished.
  public var badTokensMax: Int? = 20

  /// The usual conduct.
  public init() {}
}
