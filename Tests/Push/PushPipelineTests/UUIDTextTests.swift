import Foundation
import PushPipeline
import PushRules
import Testing

@Suite("The text of a UUID")
struct UUIDTextTests {
  @Test("it is Foundation's in lower case")
  func asFoundation() {
    let edges = ["00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"].compactMap(
      UUID.init(uuidString:))
    for id in edges + (0..<1000).map({ _ in UUID() }) { #expect(id.lowercased == id.uuidString.lowercased()) }
  }
}
