import Foundation
import Settings
import Testing

@Suite("Local files")
struct LocalFileTests {
  private func withFile(of bytes: Int, _ body: (String) throws -> Void) throws {
    let path = NSTemporaryDirectory() + "tacet-settings-\(UUID().uuidString)"
    try Data(repeating: 0x61, count: bytes).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  @Test("a file is read whole, up to the limit", arguments: [0, 1, 100_000, LocalFile.bytesMax])
  func whole(bytes: Int) throws {
    try withFile(of: bytes) { path in
      let read = try LocalFile.read(path: path)
      #expect(read == [UInt8](repeating: 0x61, count: bytes))
    }
  }

  @Test("a larger one is refused")
  func larger() throws {
    try withFile(of: LocalFile.bytesMax + 1) { path in
      #expect(throws: LocalFile.ReadError(reason: "larger than 1048576 bytes")) { try LocalFile.read(path: path) }
    }
  }

  @Test("what is not there or no file is refused in the system's words")
  func absent() {
    #expect(throws: LocalFile.ReadError(reason: "No such file or directory")) {
      try LocalFile.read(path: "/no/such/file")
    }
    #expect(throws: LocalFile.ReadError(reason: "Is a directory")) { try LocalFile.read(path: "/") }
  }
}
