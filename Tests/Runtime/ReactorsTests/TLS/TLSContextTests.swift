import Reactors
import Testing

@Suite("TLS contexts")
struct TLSContextTests {
  @Test("a file that is not there, and a text that is no certificate, are named")
  func noCertificate() throws {
    #expect {
      _ = try TLSContext(trusting: .systemAnd(.file("/nonexistent/ca.pem")), protocols: [])
    } throws: { error in
      (error as? TLSError)?.description.contains("/nonexistent/ca.pem") == true
    }
    #expect {
      _ = try TLSContext(trusting: .systemAnd(.text("not PEM")), protocols: [])
    } throws: { ($0 as? TLSError)?.code == .configuration }
  }

  @Test("a key that belongs to another certificate is refused")
  func otherKey() throws {
    let authority = try CertificateAuthority(name: "Test authority")
    let one = try authority.issue(for: ["a.test"])
    let other = try authority.issue(for: ["b.test"])
    #expect {
      _ = try TLSContext(certificate: .text(one.certificate), key: .text(other.key), protocols: ["h2"])
    } throws: { ($0 as? TLSError)?.code == .configuration }
  }

  @Test("a server may present a chain")
  func chain() throws {
    let authority = try CertificateAuthority(name: "Test authority")
    let identity = try authority.issue(for: ["a.test"])
    let chain = identity.certificate + authority.certificate
    _ = try TLSContext(certificate: .text(chain), key: .text(identity.key), protocols: ["h2"])
  }

  @Test("a protocol name has 1 to 255 bytes", arguments: ["", String(repeating: "x", count: 256)])
  func protocolNames(name: String) throws {
    #expect(throws: TLSError.self) { _ = try TLSContext(protocols: [name]) }
  }
}
