import Testing

@testable import Campaigns

@Suite("Parts of campaigns that fail")
struct CampaignRetriesTests {
  /// The looks, from 1 on, at which a part is tried that fails each time.
  private static func tries(looks: Int, of retries: inout CampaignRetries, _ part: CampaignRetries.Part) -> [Int] {
    (1...looks).filter { _ in
      retries.beginLook()
      if retries.leavesOut(part) { return false }
      retries.failed(part)
      return true
    }
  }

  @Test("are left out for longer and longer, up to ten minutes of looks, and no other part with them")
  func steps() {
    var retries = CampaignRetries()
    let tries = Self.tries(looks: 128, of: &retries, .audience("coach"))
    #expect(tries == [1, 2, 4, 8, 16, 32, 64, 96, 128])
    #expect(!retries.leavesOut(.audience("evening")))
    #expect(!retries.leavesOut(.slot("coach", "UTC")))
  }

  @Test("are tried at the next look again after one that went well, and when nobody asked for ten minutes")
  func recovery() {
    var retries = CampaignRetries()
    let part = CampaignRetries.Part.slot("coach", "UTC")
    _ = Self.tries(looks: 16, of: &retries, part)
    retries.succeeded(part)
    #expect(Self.tries(looks: 4, of: &retries, part) == [1, 2, 4])
    for _ in 0..<100 { retries.beginLook() }
    #expect(Self.tries(looks: 4, of: &retries, part) == [1, 2, 4])
  }
}
