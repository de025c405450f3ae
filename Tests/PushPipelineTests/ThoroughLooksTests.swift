import Testing

@testable import PushPipeline

@Suite("Thorough looks")
struct ThoroughLooksTests {
  @Test("the first look sees everything, and so does each that was asked for, however soon")
  func asked() {
    var looks = ThoroughLooks()
    #expect(looks.isAskedFor)
    #expect(looks.isDue(isBroughtByWake: false, now: 0))
    looks.begin(at: 7)
    #expect(!looks.isAskedFor)
    looks.ask()
    #expect(looks.isAskedFor)
    #expect(looks.isDue(isBroughtByWake: false, now: 7))
  }

  @Test("what is asked for while a look is under way is looked at by the next")
  func meanwhile() {
    var looks = ThoroughLooks()
    looks.begin(at: 7)
    looks.ask()
    looks.begin(at: 8)
    #expect(!looks.isDue(isBroughtByWake: false, now: 8))
  }

  @Test(
    "everything is seen every 20 ms, and 2 ms after the last time when a wake-up brought no message",
    arguments: [(false, 19, false), (false, 20, true), (true, 1, false), (true, 2, true)] as [(Bool, UInt64, Bool)])
  func pace(_ isBroughtByWake: Bool, _ milliseconds: UInt64, _ isDue: Bool) {
    var looks = ThoroughLooks()
    looks.begin(at: 7)
    #expect(looks.isDue(isBroughtByWake: isBroughtByWake, now: 7 + milliseconds * 1_000_000) == isDue)
  }
}
