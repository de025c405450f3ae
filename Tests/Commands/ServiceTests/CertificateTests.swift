import Foundation
import TestProcesses
import Testing

@Suite("The certificate of the HTTP service", .serialized)
struct CertificateTests {
  private let folder: String

  init() throws { folder = try makeTemporaryFolder("test-certificate") }

  @Test("it is shown, renewed by a reload, and kept when the renewed one is unusable")
  func renewal() async throws {
    try await makeCertificate("first")
    try await makeCertificate("second")
    try install("first")
    let extra = ["TLS_CERTIFICATE_FILE": folder + "/current.pem", "TLS_KEY_FILE": folder + "/current.key"]
    try await ServiceScene.play(extra: extra) { _, service in
      #expect(try await health(service, trusting: "first"))
      #expect(try await !health(service, trusting: "second"))

      try install("second")
      try await service.process.signal(SIGHUP)
      #expect(try await service.process.line(containing: "settings reloaded").contains("certificate=renewed"))
      #expect(try await health(service, trusting: "second"))
      #expect(try await !health(service, trusting: "first"))

      // The key of another certificate.
      try install("second", key: "first")
      try await service.process.signal(SIGHUP)
      _ = try await service.process.line(containing: "settings not reloaded")
      #expect(try await health(service, trusting: "second"))
    }
  }

  private func install(_ certificate: String, key: String? = nil) throws {
    for (source, target) in [("\(certificate).pem", "current.pem"), ("\(key ?? certificate).key", "current.key")] {
      try Data(contentsOf: URL(filePath: "\(folder)/\(source)")).write(to: URL(filePath: "\(folder)/\(target)"))
    }
  }

  private func makeCertificate(_ name: String) async throws {
    let command = [
      "/usr/bin/env", "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-keyout", "\(folder)/\(name).key", "-out", "\(folder)/\(name).pem", "-days", "1", "-subj", "/CN=\(name)",
      "-addext", "subjectAltName=IP:127.0.0.1",
    ]
    try await onOwnThread { _ = try run(command) }
  }

  /// Whether `/healthz` answers over TLS to somebody who trusts this certificate alone.
  private func health(_ service: RunningService, trusting name: String) async throws -> Bool {
    let url = service.origin.replacingOccurrences(of: "http://", with: "https://") + "/healthz"
    let command = ["/usr/bin/env", "curl", "-sf", "--max-time", "20", "--cacert", "\(folder)/\(name).pem", url]
    return try await onOwnThread { (try? run(command))?.contains("ok") ?? false }
  }
}
