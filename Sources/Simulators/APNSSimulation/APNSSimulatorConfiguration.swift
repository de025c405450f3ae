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
