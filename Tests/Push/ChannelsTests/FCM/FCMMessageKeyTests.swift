import Channels
import Testing

@Suite("Texts as keys of the app's resources")
struct FCMMessageKeyTests {
  private func encoded(_ change: (inout FCMMessage) -> Void) throws -> String {
    var message = FCMMessage(token: "t")
    message.title = "Go"
    message.body = "Now"
    change(&message)
    return String(decoding: try message.encoded(), as: UTF8.self)
  }

  @Test("a notification has the key in place of the words, because Android would take the words")
  func notification() throws {
    let whole = try encoded {
      $0.titleKey = .init("GO", arguments: ["a\"", "b"])
      $0.bodyKey = .init("NOW")
    }
    #expect(!whole.contains(#""notification":{"title""#) && !whole.contains("Now"))
    #expect(
      whole.contains(
        #""notification":{"title_loc_key":"GO","title_loc_args":["a\"","b"],"body_loc_key":"NOW"}"#), "\(whole)")
    let title = try encoded { $0.titleKey = .init("GO") }
    #expect(title.contains(#""notification":{"body":"Now"}"#) && title.contains(#""title_loc_key":"GO"}"#))
  }

  @Test("data has both, with the values as JSON, and renames what the app calls the same")
  func data() throws {
    let whole = try encoded {
      $0.presentation = .dataOnly
      $0.titleKey = .init("GO", arguments: ["a"])
      $0.data = FCMData(renaming: ["title_loc_key": "x"])
    }
    #expect(
      whole.contains(
        #""app.title_loc_key":"x","body":"Now","title":"Go","title_loc_args":"[\"a\"]","title_loc_key":"GO""#),
      "\(whole)")
  }
}
