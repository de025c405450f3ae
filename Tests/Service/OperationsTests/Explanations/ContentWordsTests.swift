import PushRules
import PushStore
import Testing

@testable import Operations

@Suite("Words for content that was kept back")
struct ContentWordsTests {
  @Test(
    "what was kept back of a push, and why",
    arguments: [
      ("sender", "with the sender's name alone"), ("none", "without content"), ("sealed", "sealed for the device"),
      ("no_key", "without content, because the device has no key to seal it for"), ("new", "with content new"),
    ])
  func words(_ note: String, _ words: String) {
    #expect(ContentWords.form(note) == words)
  }

  @Test("an accepted push says it")
  func step() throws {
    var told = Told()
    told.claim(
      decision: .sent,
      attempts: [
        .init(
          mark: "aaaaaaaa", route: "com.example.app/production", endedMicroseconds: 900, status: 200, identifier: "id",
          content: "no_key", verdict: "accepted")
      ])
    let entry = try #require(told.history.last)
    #expect(
      AttemptSteps(entry: entry).steps.map(\.text) == [
        "APNs accepted the push for device aaaaaaaa, without content, because the device has no key to seal it for"
      ])
  }
}
