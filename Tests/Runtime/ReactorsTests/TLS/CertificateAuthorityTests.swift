import Reactors
import Testing

@Suite("A private certificate authority")
struct CertificateAuthorityTests {
  @Test("it gives out PEM texts, and a different key each time")
  func issue() throws {
    let authority = try CertificateAuthority(name: "Test authority")
    let first = try authority.issue(for: ["localhost", "127.0.0.1", "::1"])
    let second = try authority.issue(for: ["localhost"])
    #expect(authority.certificate.hasPrefix("-----BEGIN CERTIFICATE-----"))
    #expect(first.certificate.hasPrefix("-----BEGIN CERTIFICATE-----"))
    #expect(first.key.hasPrefix("-----BEGIN PRIVATE KEY-----"))
    #expect(first.key != second.key)
  }
}
