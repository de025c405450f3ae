public import HTTP1

/// The bounds of a service; every one has a default.
public struct HTTPServiceConfiguration: Sendable {
  /// What one request may be.
  public var limits = HTTPLimits()

  /// How long peers are waited for.
  public var timeouts = HTTPTimeouts()

  /// How many connections there may be, and how many requests on each.
  public var connections = ConnectionLimits()

  /// Who else may say whom a request comes from; nobody unless set.
  public var proxies = TrustedProxies()

  /// The permissions of the file of a Unix socket.
  ///
  /// 0660: the service's user and group, so that a proxy is let in by its group and nobody else by default.
  public var unixSocketMode: UInt32 = 0o660

  /// Makes the configuration with every default in place.
  public init() {}
}
