import Foundation
import Testing

@testable import PushRules

@Suite("The words of a push in other locales")
struct LocalisedTextsTests {
  private static let id = HostID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 1)))

  private func content(_ members: String, of kind: String = "stored_push") -> any PushContent {
    let document =
      #"{"title":"Go","body":"Now","surface_kind":"plan","surface_id":"\#(Self.id)","values":{},"presentation":{\#(members)}}"#
    return KnownKinds.content(ClaimedContent(surfaceID: Self.id, document: document), of: kind)
  }

  private func alert(_ content: any PushContent) throws -> AlertPayload? {
    try content.push(about: PushSubject(id: Self.id, kind: "reminder")).alert
  }

  private func localised(_ members: String) throws -> LocalisedTexts {
    try JSONDecoder().decode(LocalisedTexts.self, from: Data(members.utf8))
  }

  @Test(
    "a locale's words take the place of the push's own, member by member",
    arguments: ["stored_push", "watched_row"])
  func words(kind: String) throws {
    let content = content(
      #""subtitle":"Row 5","localised":{"de":{"title":"Los","subtitle":"Reihe 5"},"fr":{"body":"Vite"}}"#, of: kind)
    let german = try #require(LocaleTag("de"))
    let french = try #require(LocaleTag("fr"))
    #expect(content.choice(for: LocaleTag("de-AT"))?.shown == german)
    #expect(content.choice(for: LocaleTag("it")) == nil && content.choice(for: nil) == nil)
    let shown = try alert(content.inLocale(german))
    #expect(shown?.title == "Los" && shown?.subtitle == "Reihe 5" && shown?.body == "Now")
    #expect(try alert(content.inLocale(french))?.title == "Go" && alert(content.inLocale(french))?.body == "Vite")
    #expect(try content.inLocale(german).push(about: PushSubject(id: Self.id, kind: "x")).locale == german)
    #expect(try content.push(about: PushSubject(id: Self.id, kind: "x")).locale == nil)
  }

  @Test(
    "what cannot be used is left out, and the push keeps its own words",
    arguments: [
      #""localised":[]"#, #""localised":{"deutsch":{"title":"x"}}"#, #""localised":{"de":{"title":""}}"#,
      #""localised":{"de":"x"}"#, #""localised":{"de":{"title":1}}"#, #""localised":{"de":{"plural":{"one":1}}}"#,
      #""localised":{"de":{"title":"a"},"DE":{"title":"b"}}"#, #""localised":null"#,
    ])
  func unusable(members: String) throws {
    #expect(!content(members).isLocalised)
    #expect(try alert(content(members))?.title == "Go")
  }

  @Test("there are bounds: 50 locales, 32 KiB, 256 and 2048 characters")
  func bounds() throws {
    func texts(_ count: Int, _ body: String) throws -> LocalisedTexts {
      let members = (0..<count).map { index in
        let letters = [97, UInt8(97 + index / 26), UInt8(97 + index % 26)]
        return "\"\(String(decoding: letters, as: UTF8.self))\":{\"body\":\"\(body)\"}"
      }
      return try localised("{" + members.joined(separator: ",") + "}")
    }
    #expect(try texts(50, "x").texts.count == 50)
    #expect(throws: (any Error).self) { try texts(51, "x") }
    #expect(try texts(15, String(repeating: "x", count: 2048)).texts.count == 15)
    #expect(throws: (any Error).self) { try texts(16, String(repeating: "x", count: 2048)) }
    #expect(throws: (any Error).self) { try texts(1, String(repeating: "x", count: 2049)) }
    #expect(throws: (any Error).self) { try localised(#"{"de":{"title":"\#(String(repeating: "x", count: 257))"}}"#) }
    #expect(throws: (any Error).self) { try localised(#"{"de":{"title":"a\u0000"}}"#) }
  }

  @Test("plural forms are taken by the number's category, and written back as they were read")
  func plural() throws {
    let text = """
      {"ru":{"title":"T","body":"{n}","count":%,"plural":{"one":{"body":"one"},\
      "few":{"body":"few","title":"F"},"many":{}}}}
      """
    let russian = try #require(LocaleTag("ru"))
    for (count, title, body) in [("1", "T", "one"), ("3", "F", "few"), ("5", "T", "{n}"), ("null", "T", "{n}")] {
      let texts = try localised(text.replacing("%", with: count))
      #expect(texts.words(in: russian).title == title && texts.words(in: russian).body == body)
      #expect(try localised(String(decoding: texts.document.encoded(), as: UTF8.self)) == texts)
    }
  }

  @Test(
    "the places in a watched kind's texts are filled in one pass, and isolated where directions meet",
    arguments: [
      ("{a} ist neu", "Tee ist neu"), ("{a}{b}", "Tee{a}"), ("{none}x", "x"), ("{null}x", "x"), ("{a", "{a"),
      ("a}", "a}"),
      ("{}", "{}"), ("{{a}}", "{Tee}"), ("{a} {rtl}", "\u{2068}Tee\u{2069} \u{2068}דנה\u{2069}"), ("{none}", "Go"),
    ])
  func filled(template: String, title: String) throws {
    let document = """
      {"title":"Go","body":"Now","surface_kind":"plan","surface_id":"\(Self.id)",\
      "values":{"a":"Tee","b":"{a}","null":null,"rtl":"דנה"},"presentation":{"localised":{"de":{"title":"\(template)"}}}}
      """
    let content = KnownKinds.content(ClaimedContent(surfaceID: Self.id, document: document), of: "watched_row")
    #expect(try alert(content.inLocale(try #require(LocaleTag("de"))))?.title == .verbatim(title))
    let plain = KnownKinds.content(
      ClaimedContent(
        surfaceID: Self.id, document: document.replacing(/"values".*"presentation"/, with: "\"presentation\"")),
      of: "watched_row")
    #expect(!plain.isLocalised, "templates without values say nothing")
  }

  @Test("the app's keys go to APNs in place of words, which remain for others")
  func keys() throws {
    let content = content(
      #""title_loc_key":"GO","title_loc_args":["a"],"loc_key":"NOW","localised":{"de":{"title":"Los"}}"#)
    let german = try #require(LocaleTag("de"))
    let alert = try #require(try alert(content.inLocale(german)))
    #expect(alert.title == .localized(key: "GO", arguments: ["a"], words: "Los") && alert.title?.words == "Los")
    #expect(
      String(decoding: alert.encoded(badge: nil, logID: UUID().uuidString), as: UTF8.self).hasPrefix(
        #"{"aps":{"alert":{"title-loc-key":"GO","title-loc-args":["a"],"loc-key":"NOW"}"#))
    #expect(try self.alert(self.content(#""title_loc_args":["a"]"#))?.title == "Go")
  }

  @Test(
    "a request takes words and keys that every device can be shown",
    arguments: [
      (#""localised":{"de":{"title":"Los"},"pt_br":{"body":"Vai","count":2,"plural":{"one":{"body":"x"}}}}"#, true),
      (#""title_loc_key":"GO","title_loc_args":["a","b"],"subtitle_loc_key":"S","loc_key":"NOW","loc_args":[]"#, true),
      (#""localised":null,"loc_key":null,"loc_args":null"#, true), (#""localised":{}"#, true),
      (#""localised":{"deutsch":{}}"#, false), (#""localised":{"de":{"title":""}}"#, false),
      (#""localised":[]"#, false),
      (#""loc_key":"""#, false), (#""loc_args":["a"]"#, false), (#""loc_key":"k","loc_args":[1]"#, false),
      (#""loc_key":"k","loc_args":["\#(String(repeating: "x", count: 257))"]"#, false),
      (#""loc_key":"\#(String(repeating: "x", count: 129))""#, false),
      (#""loc_key":"k","loc_args":["a\u0000"]"#, false),
      (#""loc_key":"k","loc_args":[\#(Array(repeating: "\"x\"", count: 21).joined(separator: ","))]"#, false),
      // Each byte of the body is six in the document.
      (#""localised":{"de":{"body":"\#(String(repeating: "\\u0001", count: 700))"}}"#, false),
    ])
  func request(members: String, isGood: Bool) throws {
    let json = #"{"title":"Go","body":"",\#(members)}"#
    let request = Result { try JSONDecoder().decode(ServicePushRequest.self, from: Data(json.utf8)) }
    #expect(((try? request.get()) != nil) == isGood, "\(json)")
    guard let stored = (try? request.get())?.presentation else { return }
    let read = try JSONDecoder().decode(StoredPresentation.self, from: Data(stored.json.utf8))
    #expect(read.presentation == stored)
  }

  @Test("the locale of a target is read from its keys, whatever they hold")
  func target() {
    func locale(_ keys: String?) -> String? { PushTarget(address: "aa", keys: keys).locale?.text }
    #expect(locale(#"{"locale":"de-AT"}"#) == "de-AT" && locale(#"{"p256dh":"x","locale":"pt_BR","n":[1]}"#) == "pt-BR")
    let whole = #"{"locale":"de-AT"}"#
    for length in 0..<whole.utf8.count {
      #expect(locale(String(decoding: whole.utf8.prefix(length), as: UTF8.self)) == nil)
    }
    for keys in [nil, "", "[]", "null", #"{"locale":1}"#, #"{"locale":null}"#, #"{"locale":"und"}"#, "{}"] {
      #expect(locale(keys) == nil)
    }
    #expect(locale(#"{"locale":"de","x":"\#(String(repeating: "x", count: 4096))"}"#) == nil)
  }
}
