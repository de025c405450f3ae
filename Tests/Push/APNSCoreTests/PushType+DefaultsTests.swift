import APNSCore
import Testing

@Suite("What a push type is usually sent with")
struct PushTypeDefaultsTests {
  @Test(
    "the usual priority is one that APNs takes: 5 where 10 is an error or counted, else 10",
    arguments: PushType.allCases)
  func priority(type: PushType) {
    #expect(type.usualPriority == ([.background, .liveactivity].contains(type) ? .powerAware : .immediate))
    #expect(type.allowedPriorities.contains(type.usualPriority))
  }

  @Test("only speech is worth nothing later", arguments: PushType.allCases)
  func expiration(type: PushType) {
    #expect(type.usualExpiration == (type == .pushtotalk ? .attemptOnce : .servicePolicy))
  }
}
