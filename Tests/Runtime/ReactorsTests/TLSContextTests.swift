import Foundation
import TestProcesses
import TestReactors
import Testing

@testable import Reactors

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

@Suite("Authorities in a folder")
struct SystemTrustTests {
  /// A folder with the authorities under the hashes of their names, as `update-ca-certificates` makes it.
  private func folder(of authorities: [CertificateAuthority]) async throws -> String {
    let folder = try makeTemporaryFolder("test-authorities")
    for authority in authorities {
      let file = folder + "/authority.pem"
      try authority.certificate.write(toFile: file, atomically: true, encoding: .utf8)
      let hash = try await onOwnThread { try run(["openssl", "x509", "-noout", "-hash", "-in", file]) }
      try FileManager.default.moveItem(atPath: file, toPath: folder + "/\(hash.prefix(8)).0")
    }
    return folder
  }

  @Test("an authority is found by the hash of its name, and another one is not", arguments: [true, false])
  func found(isThere: Bool) async throws {
    let trust = try TestTrust()
    let server = try trust.server()
    let other = try CertificateAuthority(name: "Other authority")
    let folder = try await folder(of: [isThere ? trust.authority : other])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await onReactor { reactor in
      let client = try TLSContext(trusting: .system, protocols: ["h2"])
      try client.trust(folder: folder)
      let hands = try await shakeHands(client, server, on: reactor)
      #expect(hands.client.error?.code == (isThere ? nil : .certificateRefused))
    }
  }

  @Test(
    "a folder counts when one of its files has such a name",
    arguments: [
      ("0a1b2c3d.0", true), ("0a1b2c3d.1", false), ("0A1B2C3D.0", false), ("0a1b2c3.0", false), ("0a1b2c3g.0", false),
      ("0a1b2c3d.0x", false), ("ca-certificates.crt", false), (nil, false),
    ] as [(String?, Bool)])
  func hashed(name: String?, isHashed: Bool) throws {
    let folder = try makeTemporaryFolder("test-authorities")
    defer { try? FileManager.default.removeItem(atPath: folder) }
    if let name { try Data().write(to: URL(filePath: folder).appending(path: name)) }
    #expect(TLSContext.isHashed(folder) == isHashed)
    #expect(!TLSContext.isHashed(folder + "/nowhere"))
  }
}
