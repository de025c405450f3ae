public import HTTP1

/// The bounds of a service; every one has a default.
public struct HTTPServiceConfiguration: Sendable {
  /// What one request may be.
  public var limits = HTTPLimits()

  /// How long peers are waited for.
  public var timeouts = HTTPTimeouts()

  /// Open connections of one reactor. Beyond it nothing is accepted until one closes; the kernel's queue holds the rest.
  ///
  /// 8192: at about 6 KiB an idle connection, 50 MB.
  public var connectionsMax = 8192

  /// Makes the configuration with every default in place.
  public init() {}
}
