internal import HTTP2

/// One client's connection and what is remembered about it.
final class ServedConnection {
  let link: HTTP2ServerConnection
  /// Since the start of the simulator, over all listeners, from 1.
  let number: Int
  let certificate: InspectedRequest.Certificate
  var idle: IdleWatch?
  var binding = ProviderBinding()
  var conduct: ConnectionConduct
  /// The highest stream whose request was received.
  var lastStream: Int32 = 0
  /// What the latest GOAWAY promised. Requests above it may have been read together with the one that caused it.
  var processedMax = Int32.max

  init(
    _ link: HTTP2ServerConnection, number: Int, certificate: InspectedRequest.Certificate, policy: StreamPolicy
  ) {
    self.link = link
    self.number = number
    self.certificate = certificate
    conduct = ConnectionConduct(policy: policy)
  }
}

extension InspectedRequest.Certificate {
  /// What is known of a connection's certificate: nil outside when it showed none, nil inside when nobody registered it.
  init(_ known: RegisteredCertificate??) {
    switch known {
    case nil: self = .none
    case .some(nil): self = .unknown
    case .some(let certificate?): self = .topics(certificate.topics)
    }
  }
}
