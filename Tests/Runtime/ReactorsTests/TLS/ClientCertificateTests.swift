import Reactors
import TestReactors
import Testing

@Suite("Client certificates")
struct ClientCertificateTests {
  @Test("a server that asks sees the certificate whose key the client holds, whoever issued it")
  func shown() async throws {
    try await onReactor { reactor in
      let trust = try TestTrust()
      let identity = try CertificateAuthority(name: "A stranger").issue(for: ["client"])
      let client = try TLSContext(
        trusting: .systemAnd(.text(trust.authority.certificate)), presenting: identity, protocols: ["h2"])
      let hands = try await shakeHands(client, try server(trust, asking: true), on: reactor)
      let certificate = try PEM.text(identity.certificate).certificatesAsDER()
      #expect(try hands.server.get().peerCertificate == certificate.first)
      #expect(certificate.count == 1)
    }
  }

  @Test("a client without one is let in as well, and nobody is seen unasked", arguments: [true, false])
  func notShown(isAsked: Bool) async throws {
    try await onReactor { reactor in
      let trust = try TestTrust()
      let identity = isAsked ? nil : try trust.authority.issue(for: ["client"])
      let client = try TLSContext(
        trusting: .systemAnd(.text(trust.authority.certificate)), presenting: identity, protocols: ["h2"])
      let hands = try await shakeHands(client, try server(trust, asking: isAsked), on: reactor)
      #expect(try hands.server.get().peerCertificate == nil)
      #expect(try hands.client.get().peerCertificate != nil)
    }
  }

  private func server(_ trust: TestTrust, asking: Bool) throws -> TLSContext {
    let identity = try trust.authority.issue(for: ["localhost"])
    return try TLSContext(
      certificate: .text(identity.certificate), key: .text(identity.key), protocols: ["h2"], asksForCertificate: asking)
  }
}
