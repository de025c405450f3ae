import PushRules
import Testing

@Suite("Shadowed kinds")
struct ShadowedKindsTests {
  @Test("none, all, and those that are named")
  func covers() {
    for kind in KnownKinds.eventKinds.union(["check_in"]) {
      #expect(!ShadowedKinds.none.covers(kind))
      #expect(ShadowedKinds.all.covers(kind))
      #expect(ShadowedKinds.only(["check_in"]).covers(kind) == (kind == "check_in"))
    }
  }

  @Test("operators are told what is not sent")
  func notice() {
    #expect(ShadowedKinds.none.notice == nil)
    #expect(ShadowedKinds.all.notice == "SHADOW is true: pushes are recorded, none is sent")
    #expect(ShadowedKinds.only(["message", "coach"]).notice?.contains("coach, message") == true)
  }
}
