import HTTP1
import HTTPServing
import Logging
import Settings
import TLSStreams

extension HTTPServiceConfiguration {
  /// Descriptors that are not for HTTP connections: the database's and APNs' connections, event loops and files.
  private static let otherDescriptors = 256

  /// The part of the settings that the HTTP service needs.
  init(_ settings: HTTPSettings) {
    self.init()
    func set<Value>(_ path: WritableKeyPath<Self, Value>, _ value: Value?) {
      if let value { self[keyPath: path] = value }
    }
    set(\.connections.totalMax, settings.connectionsMax)
    set(\.connections.perPeerMax, settings.peerConnectionsMax)
    set(\.connections.requestsMax, settings.connectionRequestsMax)
    set(\.limits.requestLineBytesMax, settings.requestLineBytesMax)
    set(\.limits.fieldCountMax, settings.headerCountMax)
    set(\.limits.fieldBytesMax, settings.headerBytesMax)
    set(\.limits.bodyBytesMax, settings.bodyBytesMax)
    set(\.timeouts.bodyBytesPerSecondMin, settings.bodyBytesPerSecondMin)
    set(\.timeouts.head, settings.headerTime)
    set(\.timeouts.body, settings.bodyTime)
    set(\.timeouts.idle, settings.idleTime)
    set(\.timeouts.write, settings.writeTime)
    set(\.unixSocketMode, settings.socketMode)
    set(\.proxies, TrustedProxies(settings.proxies))
  }

  /// Takes no more connections than there are descriptors for, so that the answer to too many is 503 and no failure of
  /// something else.
  mutating func fit(descriptors: Int, logger: Logger) {
    let room = max(1, descriptors - Self.otherDescriptors - connections.reserveMax)
    guard connections.totalMax > room else { return }
    logger.warning(
      "fewer connections than allowed: the limit on descriptors is low",
      metadata: ["descriptors": "\(descriptors)", "connections": "\(room)"])
    connections.totalMax = room
  }
}

extension TrustedProxies {
  init(_ settings: ProxySettings) {
    self.init(networks: settings.networks, includesUnixSockets: settings.includesUnixSockets)
    switch settings.header {
    case .xForwardedFor: field = .xForwardedFor
    case .forwarded: field = .forwarded
    }
  }
}

extension TLSSettings {
  /// What connections are secured with.
  /// - Throws: `TLSError` when certificate and key do not fit or cannot be read.
  func context() throws(TLSError) -> TLSContext {
    try TLSContext(
      certificate: .text(certificate), key: .text(key.exposed), protocols: ["http/1.1"], requiresProtocol: false,
      releasesIdleBuffers: true)
  }
}
