import Testing

@testable import APNSSimulation

@Suite("Identifiers that the service makes")
struct MintedIdentifiersTests {
  @Test("they are upper-case UUIDs in form, and a seed gives the same ones again")
  func form() {
    var one = MintedIdentifiers(seed: 7)
    var other = MintedIdentifiers(seed: 7)
    let made = (0..<100).map { _ in one.next() }
    let again = (0..<100).map { _ in other.next() }
    #expect(made == again)
    #expect(Set(made).count == 100)
    #expect(made.allSatisfy { PushInquiry.isCanonicalIdentifier($0.lowercased()) && $0 == $0.uppercased() })
  }
}
