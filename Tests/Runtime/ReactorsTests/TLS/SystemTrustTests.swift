import Foundation
import TestProcesses
import TestReactors
import Testing

@testable import Reactors

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
