/// What is the same for all transfers of a client.
public struct HTTPTransferConfiguration: Sendable {
  /// Transfers that run at the same time, each on a connection of its own; more wait for their turn. 16: key sets and
  /// language models are asked seldom, and a server that hangs must not cost descriptors without a bound.
  public var transfersMax = 16

  /// Transfers that wait for their turn; beyond, they are refused. 256: what the time limits of most callers would let
  /// through in the end.
  public var waitingMax = 256

  /// Whose certificates are believed.
  public var trust = HTTPTransferTrust.system

  /// How the client names itself.
  public var userAgent = "tacet"

  /// The standard configuration.
  public init() {}
}

/// Whose certificates a transfer believes. Certificates are always verified, and host names always checked.
public enum HTTPTransferTrust: Sendable, Equatable {
  /// The system's certificate authorities.
  case system
  /// These and no others, as PEM text.
  case only(String)
}
