import PushRules
import Testing

@testable import PushPipeline

@Suite("A composed push")
struct ComposedPushTests {
  private static let subject = PushSubject(id: PushFixtures.makeID(7), kind: "reminder")

  private func composed(_ localised: String) throws -> ComposedPush {
    let document = #"{"title":"Go","body":"Now","presentation":{\#(localised)}}"#
    let content = KnownKinds.content(ClaimedContent(surfaceID: nil, document: document), of: "service_push")
    return try ComposedPush(content, about: Self.subject)
  }

  private func target(_ locale: String?) -> PushTarget {
    PushTarget(address: "aa", keys: locale.map { #"{"locale":"\#($0)"}"# })
  }

  @Test(
    "each target gets the words of its locale, the nearest one, or the event's own",
    arguments: [
      ("de", "Los", "de"), ("de-AT", "Los", "de"), ("pt-BR", "Vai", "pt"), ("fr", "Go", nil),
      ("not a locale", "Go", nil),
      (nil, "Go", nil),
    ] as [(String?, String, String?)])
  func chosen(locale: String?, title: String, shown: String?) throws {
    let composed = try composed(#""localised":{"de":{"title":"Los"},"pt":{"title":"Vai"}}"#)
    let (push, choice) = composed.push(for: target(locale))
    #expect(push.alert?.title == .verbatim(title) && choice?.shown.text == shown && push.locale?.text == shown)
    #expect(composed.usual.alert?.title == "Go")
  }

  @Test("one text for all asks nothing of its targets")
  func plain() throws {
    let (push, choice) = try composed("").push(for: target("de"))
    #expect(push.alert?.title == "Go" && choice == nil)
  }

  @Test("words that fit no push leave the event's own")
  func unfit() throws {
    // A body alone would be cut; the subtitle and the app's data leave no room for even an empty one.
    let wide = String(repeating: "\\u0001", count: 256)
    let localised = #""localised":{"de":{"title":"\#(wide)","subtitle":"\#(wide)","body":"x"}}"#
    let data = #""data":{"x":"\#(String(repeating: "y", count: 1500))"},"#
    let document = #"{\#(data)"title":"Go","body":"Now","presentation":{\#(localised)}}"#
    let content = KnownKinds.content(ClaimedContent(surfaceID: nil, document: document), of: "service_push")
    let (push, choice) = try ComposedPush(content, about: Self.subject).push(for: target("de"))
    #expect(push.alert?.title == "Go" && choice == nil)
  }
}
