import PushRules
import Testing

@Suite("Push types")
struct PushTypeTests {
  @Test(
    "each type has its header value and its topic",
    arguments: [
      (PushType.alert, "alert", "com.example.app"),
      (.background, "background", "com.example.app"),
      (.complication, "complication", "com.example.app.complication"),
      (.controls, "controls", "com.example.app.push-type.controls"),
      (.fileprovider, "fileprovider", "com.example.app.pushkit.fileprovider"),
      (.liveactivity, "liveactivity", "com.example.app.push-type.liveactivity"),
      (.location, "location", "com.example.app.location-query"),
      (.mdm, "mdm", "com.example.app"),
      (.pushtotalk, "pushtotalk", "com.example.app.voip-ptt"),
      (.voip, "voip", "com.example.app.voip"),
      (.widgets, "widgets", "com.example.app.push-type.widgets"),
    ])
  func topics(type: PushType, header: String, topic: String) {
    #expect(type.rawValue == header)
    #expect(type.topic(bundleIdentifier: "com.example.app") == topic)
  }

  @Test("there are eleven types")
  func count() {
    #expect(PushType.allCases.count == 11)
  }

  @Test("only calls may be larger than four kilobytes", arguments: PushType.allCases)
  func limits(type: PushType) {
    #expect(type.bodyBytesMax == (type == .voip ? 5120 : 4096))
  }

  @Test("what Apple calls an error is not allowed, everything else is", arguments: PushType.allCases)
  func priorities(type: PushType) {
    let expected: [PushPriority] =
      switch type {
      case .background: [.powerAware]
      case .liveactivity: [.immediate, .powerAware]
      default: PushPriority.allCases
      }
    #expect(type.allowedPriorities == expected)
  }
}

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

@Suite("Push priorities")
struct PushPriorityTests {
  @Test("the header value is the number in digits", arguments: zip(PushPriority.allCases, ["10", "5", "1"]))
  func headerValues(priority: PushPriority, value: String) {
    #expect(priority.headerValue == value)
    #expect(String(priority.rawValue) == value)
  }
}

@Suite("Push expiration")
struct PushExpirationTests {
  @Test(
    "the header value is never signed, and absent when the service decides",
    arguments: [
      (PushExpiration.attemptOnce, Optional("0")),
      (.until(unixSeconds: 1_790_000_000), "1790000000"),
      (.until(unixSeconds: 0), "0"),
      (.until(unixSeconds: -1), "0"),
      (.servicePolicy, nil),
    ])
  func headerValues(expiration: PushExpiration, value: String?) {
    #expect(expiration.headerValue == value)
  }
}
