import Testing

@testable import Channels

@Suite("The token a connection shows")
struct ShownTokenTests {
  private static let minute: UInt64 = 60_000_000_000
  private let first = ProviderToken(authorization: "bearer first", mintedAt: 0, issuedAt: 0)
  private let second = ProviderToken(authorization: "bearer second", mintedAt: 1, issuedAt: 0)

  @Test(
    "it moves to a newer one after 20 minutes, not before",
    arguments: [(0, false), (19, false), (20, true), (99, true)])
  func adopting(minutes: UInt64, isAdopted: Bool) {
    var shown = ShownToken(first, now: 1000)
    shown.adopt(second, now: 1000 + minutes * Self.minute)
    #expect(shown.token == (isAdopted ? second : first))
  }

  @Test("the same token is shown on and does not begin anew")
  func same() {
    var shown = ShownToken(first, now: 0)
    shown.adopt(first, now: 19 * Self.minute)
    #expect(!shown.hasChanged)
    shown.adopt(second, now: 20 * Self.minute)
    #expect(shown.token == second)
    #expect(shown.hasChanged)
  }

  @Test("after a change the next one waits its 20 minutes again")
  func twice() {
    let third = ProviderToken(authorization: "bearer third", mintedAt: 2, issuedAt: 0)
    var shown = ShownToken(first, now: 0)
    shown.adopt(second, now: 20 * Self.minute)
    shown.adopt(third, now: 40 * Self.minute - 1)
    #expect(shown.token == second)
    shown.adopt(third, now: 40 * Self.minute)
    #expect(shown.token == third)
  }
}
