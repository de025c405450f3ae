public import Logging
public import Reactors

/// What a simulator is started with; every value has a default.
public struct LanguageModelSimulatorConfiguration: Sendable {
  /// Where it listens, in plain HTTP/1.1: both interfaces and the control endpoint, which has no authentication, so
  /// that a loopback address is the place for it. Port 0 lets the kernel choose.
  public var address: SocketAddress

  /// What is answered.
  public var script = ModelScript()

  /// How much longer than at once every answer takes, in milliseconds; what a step says is added.
  public var delayMilliseconds = 0

  /// The only key that is let in; nil lets every one in, but nobody without.
  public var key: String?

  /// Records kept; the oldest go first. 1000: some megabytes with ordinary prompts.
  public var recordsMax = 1000

  /// Gets what the HTTP service has to say.
  public var logger = Logger(label: "model-simulator")

  /// 127.0.0.1 on a free port, and replies made of the prompts.
  public init() {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else {
      preconditionFailure("127.0.0.1 is no numeric address")
    }
    self.address = address
  }
}
