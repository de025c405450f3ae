import Testing

@testable import APNSCore

@Suite("JSON escapes")
struct JSONEscapeTests {
  @Test("the width announced is the width written", arguments: UInt8.min...UInt8.max)
  func widths(byte: UInt8) {
    var bytes: [UInt8] = []
    if JSONEscape.isNeeded(for: byte) { JSONEscape.append(byte, to: &bytes) } else { bytes.append(byte) }
    #expect(bytes.count == JSONEscape.width(of: byte))
  }
}
