public import Reactors

/// Where a simulator really listens, after port 0 has become a port.
public struct SimulatorAddresses: Sendable {
  /// The environments that are served.
  public let listeners: [SimulatedEnvironment: SocketAddress]
  /// The control endpoint, if there is one.
  public let control: SocketAddress?

  /// `{"production":"127.0.0.1:2197","sandbox":...,"control":...}`: the members that there are, in this order.
  public var json: String {
    var members: [String] = []
    for environment in SimulatedEnvironment.allCases {
      if let address = listeners[environment] { members.append(#""\#(environment.rawValue)":"\#(address)""#) }
    }
    if let control { members.append(#""control":"\#(control)""#) }
    return "{" + members.joined(separator: ",") + "}"
  }
}
