internal import HTTPServing
internal import SimulationControl
internal import TLSStreams

/// A client certificate as scripts register it.
struct CertificateDocument: ControlDocument {
  /// The certificate; what follows it is not looked at.
  var pem: String
  /// Nil for both.
  var environment: SimulatedEnvironment?
  var topics: [String]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case pem, environment, topics
  }

  func certificate() throws(ProblemDetails) -> (certificate: RegisteredCertificate, der: [UInt8]) {
    guard let der = try? PEM.text(pem).certificatesAsDER().first else {
      throw ProblemDetails.unfit("pem is not a certificate")
    }
    guard !topics.isEmpty else { throw ProblemDetails.unfit("topics names at least one") }
    let environments = environment.map { [$0] } ?? Set(SimulatedEnvironment.allCases)
    return (RegisteredCertificate(environments: environments, topics: topics), der)
  }
}
