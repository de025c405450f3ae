import TestProcesses
import Testing

@Suite("What the program links")
struct LinkedLibrariesTests {
  @Test("no ICU and no more of Foundation than its essentials, which brings the program from 80 MB to 25")
  func libraries() async throws {
    let program = builtProgram("tacet")
    let lines = try await onOwnThread { try run(["ldd", program]) }.split(separator: "\n")
    let names = lines.compactMap { $0.split(whereSeparator: \.isWhitespace).first.map(String.init) }
    // Debug builds link Swift's libraries dynamically, so that they show here.
    #expect(names.filter { $0.contains("Foundation") } == ["libFoundationEssentials.so"])
    #expect(names.filter { $0.lowercased().contains("icu") } == [])
    #expect(names.contains { $0.hasPrefix("libcrypto.so") })
  }

  @Test("no second library for cryptography")
  func symbols() async throws {
    let program = builtProgram("tacet")
    let symbols = try await onOwnThread { try run(["nm", program]) }
    #expect(symbols.contains("P256PrivateKey"))
    #expect(!symbols.contains("CCryptoBoringSSL"))
  }
}
